package org.questdbsf.spark;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A port before a server that can be taken down and put up again, and whose connections can be cut.
 */
final class Relay implements AutoCloseable {
  private final int target;
  private final int port;
  private final Set<Socket> open = ConcurrentHashMap.newKeySet();
  private volatile ServerSocket listening;

  /** A relay that is down. */
  Relay(int target) {
    this.target = target;
    try (ServerSocket free = bind(0)) {
      this.port = free.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ServerSocket bind(int port) throws IOException {
    ServerSocket socket = new ServerSocket();
    socket.setReuseAddress(true);
    socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    return socket;
  }

  int port() {
    return port;
  }

  Relay up() {
    try {
      listening = bind(port);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    start(() -> accept(listening));
    return this;
  }

  /** Refuses connections from now on and cuts those that are open. */
  void down() {
    try {
      listening.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    cut();
  }

  /** Resets all connections. */
  void cut() {
    for (Socket socket : open) {
      try {
        socket.setSoLinger(true, 0);
        socket.close();
      } catch (IOException e) {
        open.remove(socket); // its own thread was quicker
      }
    }
  }

  private void accept(ServerSocket from) {
    while (true) {
      try {
        Socket near = from.accept();
        Socket far = new Socket(InetAddress.getLoopbackAddress(), target);
        open.add(near);
        open.add(far);
        start(() -> copy(near, far));
        start(() -> copy(far, near));
      } catch (IOException e) {
        return; // taken down
      }
    }
  }

  private void copy(Socket from, Socket to) {
    byte[] buffer = new byte[64 << 10];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        out.write(buffer, 0, n);
      }
    } catch (IOException e) {
      // cut
    } finally {
      open.remove(from);
      open.remove(to);
    }
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "relay");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void close() {
    if (listening != null) {
      down();
    }
  }
}
