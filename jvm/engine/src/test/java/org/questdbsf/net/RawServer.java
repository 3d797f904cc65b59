package org.questdbsf.net;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A server of plain sockets whose every byte a test decides: each connection is handed to a script
 * on a thread of its own.
 */
public final class RawServer implements AutoCloseable {

  /** What to do with a connection. */
  public interface Script {
    void serve(Peer peer) throws Exception;
  }

  private static final long PATIENCE_MILLIS = TimeUnit.SECONDS.toMillis(20);

  private static final AtomicInteger SERVERS = new AtomicInteger();

  private final ServerSocket listener;
  private final Script script;
  private final List<Throwable> failures = new CopyOnWriteArrayList<>();
  private final List<Thread> threads = new CopyOnWriteArrayList<>();

  public RawServer(Script script) throws IOException {
    this(new ServerSocket(0, 50, InetAddress.getByName("127.0.0.1")), script);
  }

  /**
   * Listens on an address of this host that no other server has: a client keeps what it knows of a
   * server by its address, and ports come again.
   */
  public static RawServer atAnAddressOfItsOwn(Script script) throws IOException {
    int n = SERVERS.incrementAndGet();
    InetAddress own = InetAddress.getByAddress(new byte[] {127, 1, (byte) (n >> 8), (byte) n});
    return new RawServer(new ServerSocket(0, 50, own), script);
  }

  RawServer(ServerSocket listener, Script script) {
    this.listener = listener;
    this.script = script;
    start("raw-server-accept", this::accept);
  }

  private void start(String name, Runnable body) {
    Thread thread = new Thread(body, name);
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Peer peer = new Peer(listener.accept());
        start("raw-server-peer", () -> serve(peer));
      } catch (IOException e) {
        if (!listener.isClosed()) {
          failures.add(e);
        }
      }
    }
  }

  private void serve(Peer peer) {
    try (peer) {
      peer.socket.setSoTimeout((int) PATIENCE_MILLIS);
      script.serve(peer);
    } catch (Throwable e) {
      failures.add(e);
    }
  }

  public Endpoint endpoint() {
    return new Endpoint(listener.getInetAddress().getHostAddress(), listener.getLocalPort());
  }

  /** Ends it, and reports the first failure of a script. */
  @Override
  public void close() throws Exception {
    listener.close();
    for (Thread thread : threads) {
      if (thread != Thread.currentThread()) {
        thread.join(PATIENCE_MILLIS);
      }
    }
    for (Throwable failure : failures) {
      throw new AssertionError("in a server script: " + failure, failure);
    }
  }

  /** A frame as it came, unmasked. */
  public record Frame(boolean fin, int opcode, boolean masked, byte[] payload) {
    int closeCode() {
      return payload.length < 2 ? -1 : (payload[0] & 0xff) << 8 | payload[1] & 0xff;
    }
  }

  /** One connection, seen from the server. */
  public static final class Peer implements AutoCloseable {
    public final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    Peer(Socket socket) throws IOException {
      this.socket = socket;
      this.in = socket.getInputStream();
      this.out = socket.getOutputStream();
    }

    /** Reads up to the empty line. */
    public Request readRequest() throws IOException {
      ByteArrayOutputStream head = new ByteArrayOutputStream();
      int matched = 0;
      while (matched < 4) {
        int b = in.read();
        if (b < 0) {
          throw new EOFException("in a request head: " + head);
        }
        head.write(b);
        matched = b == "\r\n\r\n".charAt(matched) ? matched + 1 : b == '\r' ? 1 : 0;
      }
      return new Request(List.of(head.toString(StandardCharsets.ISO_8859_1).split("\r\n")));
    }

    /** Reads the request and answers 101 with these header lines besides the needed ones. */
    public Request upgrade(String... headerLines) throws IOException {
      Request request = readRequest();
      write(switching(request, headerLines));
      return request;
    }

    public void write(String latin1) throws IOException {
      write(latin1.getBytes(StandardCharsets.ISO_8859_1));
    }

    public void write(byte[] bytes) throws IOException {
      out.write(bytes);
      out.flush();
    }

    public void reply(byte[] payload) throws IOException {
      write(frame(true, 2, payload));
    }

    public void close(int code, String reason) throws IOException {
      write(frame(true, 8, closePayload(code, reason)));
    }

    /** The next frame, or null at FIN or RST. */
    public Frame readFrame() throws IOException {
      int first = readByte();
      if (first < 0) {
        return null;
      }
      int second = in.read();
      long length = second & 0x7f;
      if (length == 126) {
        length = in.read() << 8 | in.read();
      } else if (length == 127) {
        length = 0;
        for (int i = 0; i < 8; i++) {
          length = length << 8 | in.read();
        }
      }
      boolean masked = (second & 0x80) != 0;
      byte[] mask = masked ? in.readNBytes(4) : new byte[4];
      byte[] payload = in.readNBytes((int) length);
      for (int i = 0; i < payload.length; i++) {
        payload[i] ^= mask[i & 3];
      }
      return new Frame((first & 0x80) != 0, first & 0x0f, masked, payload);
    }

    /** True when the client has ended the connection by FIN, false when by RST. */
    boolean endedByFin() throws IOException {
      try {
        return in.read() < 0;
      } catch (SocketException e) {
        return false;
      }
    }

    /** The next byte; -1 at FIN or RST. */
    public int readByte() throws IOException {
      try {
        return in.read();
      } catch (SocketException e) {
        return -1;
      }
    }

    /** Ends with RST. */
    public void reset() throws IOException {
      socket.setSoLinger(true, 0);
      socket.close();
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  /** A request's lines: the request line, then the headers. */
  public record Request(List<String> lines) {
    public String line() {
      return lines.get(0);
    }

    /** The header's value, or null. */
    public String header(String name) {
      String prefix = name.toLowerCase(Locale.ROOT) + ":";
      for (String line : lines.subList(1, lines.size())) {
        if (line.toLowerCase(Locale.ROOT).startsWith(prefix)) {
          return line.substring(prefix.length()).trim();
        }
      }
      return null;
    }
  }

  public static String switching(Request request, String... headerLines) {
    StringBuilder s = new StringBuilder("HTTP/1.1 101 Switching Protocols\r\n");
    s.append("Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ");
    s.append(accept(request.header("Sec-WebSocket-Key"))).append("\r\n");
    for (String line : headerLines) {
      s.append(line).append("\r\n");
    }
    return s.append("\r\n").toString();
  }

  private static String accept(String key) {
    try {
      byte[] text =
          (key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").getBytes(StandardCharsets.US_ASCII);
      return Base64.getEncoder().encodeToString(MessageDigest.getInstance("SHA-1").digest(text));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A server's frame: not masked. */
  public static byte[] frame(boolean fin, int opcode, byte[] payload) {
    ByteArrayOutputStream b = new ByteArrayOutputStream();
    b.write((fin ? 0x80 : 0) | opcode);
    if (payload.length < 126) {
      b.write(payload.length);
    } else if (payload.length < 65536) {
      b.write(126);
      b.write(payload.length >> 8);
      b.write(payload.length);
    } else {
      b.write(127);
      for (int i = 7; i >= 0; i--) {
        b.write((int) ((long) payload.length >> 8 * i));
      }
    }
    b.writeBytes(payload);
    return b.toByteArray();
  }

  public static byte[] closePayload(int code, String reason) {
    ByteArrayOutputStream b = new ByteArrayOutputStream();
    b.write(code >> 8);
    b.write(code);
    b.writeBytes(reason.getBytes(StandardCharsets.UTF_8));
    return b.toByteArray();
  }

  /** An OK: sequence and (table, transaction) pairs. */
  public static byte[] ok(long sequence, TableTxn... tables) {
    ByteArrayOutputStream b = new ByteArrayOutputStream();
    b.write(0);
    number(b, sequence, 8);
    tables(b, tables);
    return b.toByteArray();
  }

  /** A durable acknowledgement. */
  public static byte[] durable(TableTxn... tables) {
    ByteArrayOutputStream b = new ByteArrayOutputStream();
    b.write(2);
    tables(b, tables);
    return b.toByteArray();
  }

  /** An error. */
  public static byte[] nack(int status, long sequence, String message) {
    byte[] text = message.getBytes(StandardCharsets.UTF_8);
    ByteArrayOutputStream b = new ByteArrayOutputStream();
    b.write(status);
    number(b, sequence, 8);
    number(b, text.length, 2);
    b.writeBytes(text);
    return b.toByteArray();
  }

  private static void tables(ByteArrayOutputStream b, TableTxn... tables) {
    number(b, tables.length, 2);
    for (TableTxn t : tables) {
      byte[] name = t.table().getBytes(StandardCharsets.UTF_8);
      number(b, name.length, 2);
      b.writeBytes(name);
      number(b, t.seqTxn(), 8);
    }
  }

  private static void number(ByteArrayOutputStream b, long value, int bytes) {
    for (int i = 0; i < bytes; i++) {
      b.write((int) (value >> 8 * i));
    }
  }
}
