package org.questdbsf.testserver;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** A WebSocket client of its own, byte by byte, so that a test sees what is on the wire. */
final class RawClient implements Closeable {
  static final int BINARY = 2;
  static final int CLOSE = 8;
  static final int PING = 9;
  static final int PONG = 10;

  /** One frame of the server. */
  record Frame(int opcode, byte[] payload) {
    ByteBuffer buffer() {
      return ByteBuffer.wrap(payload).order(ByteOrder.LITTLE_ENDIAN);
    }

    int status() {
      return payload[0] & 0xFF;
    }

    /** Of an OK or an error. */
    long sequence() {
      return buffer().getLong(1);
    }

    /** Of an error. */
    String text() {
      int length = buffer().getShort(9) & 0xFFFF;
      return new String(payload, 11, length, StandardCharsets.UTF_8);
    }

    /** Of an OK or a durable acknowledgement. */
    Map<String, Long> tables() {
      ByteBuffer in = buffer().position(status() == 0 ? 9 : 1);
      Map<String, Long> tables = new LinkedHashMap<>();
      for (int n = in.getShort(); n > 0; n--) {
        byte[] name = new byte[in.getShort()];
        in.get(name);
        tables.put(new String(name, StandardCharsets.UTF_8), in.getLong());
      }
      if (in.hasRemaining()) {
        throw new IllegalStateException("trailing bytes");
      }
      return tables;
    }

    /** Of a CLOSE. */
    String closeReason() {
      return new String(payload, 2, payload.length - 2, StandardCharsets.UTF_8);
    }

    int closeCode() {
      return ByteBuffer.wrap(payload).getShort() & 0xFFFF;
    }
  }

  private final Socket socket;
  private final DataInputStream in;
  private final OutputStream out;
  private final Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
  private String statusLine;

  private RawClient(Socket socket) throws IOException {
    this.socket = socket;
    socket.setSoTimeout(20_000);
    socket.setTcpNoDelay(true);
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    out = socket.getOutputStream();
  }

  /** Sends the upgrade and reads the answer, whichever it is. */
  static RawClient open(int port, String... extraHeaders) throws IOException {
    return open(new Socket("127.0.0.1", port), extraHeaders);
  }

  static RawClient open(Socket socket, String... extraHeaders) throws IOException {
    RawClient client = send(socket, extraHeaders);
    client.readHead();
    return client;
  }

  /** Sends the upgrade only. */
  static RawClient send(Socket socket, String... extraHeaders) throws IOException {
    RawClient client = new RawClient(socket);
    StringBuilder request =
        new StringBuilder(
            """
            GET /write/v4 HTTP/1.1
            Host: 127.0.0.1
            Upgrade: websocket
            Connection: Upgrade
            X-QWP-Max-Version: 1
            """);
    if (!String.join("", extraHeaders).contains("Sec-WebSocket-Version")) {
      request.append("Sec-WebSocket-Version: 13\n");
    }
    if (!String.join("", extraHeaders).contains("Sec-WebSocket-Key")) {
      request.append("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n");
    }
    for (String header : extraHeaders) {
      request.append(header).append('\n');
    }
    client.out.write((request + "\n").replace("\n", "\r\n").getBytes(StandardCharsets.ISO_8859_1));
    return client;
  }

  void readHead() throws IOException {
    statusLine = line();
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      headers.put(line.substring(0, colon), line.substring(colon + 1).trim());
    }
  }

  int status() {
    return Integer.parseInt(statusLine.split(" ")[1]);
  }

  String header(String name) {
    return headers.get(name);
  }

  void message(byte[] bytes) throws IOException {
    frame(0x80 | BINARY, bytes);
  }

  /** Bytes as they are. */
  void raw(byte[] bytes) throws IOException {
    out.write(bytes);
    out.flush();
  }

  /** Messages that arrive together, so that the server reads them as one piece. */
  void messages(byte[]... messages) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] message : messages) {
      all.write(masked(0x80 | BINARY, message));
    }
    raw(all.toByteArray());
  }

  void ping() throws IOException {
    frame(0x80 | PING, new byte[] {1, 2, 3});
  }

  void sendClose(int code) throws IOException {
    frame(0x80 | CLOSE, new byte[] {(byte) (code >> 8), (byte) code});
  }

  void frame(int firstByte, byte[] payload) throws IOException {
    raw(masked(firstByte, payload));
  }

  static byte[] masked(int firstByte, byte[] payload) {
    ByteBuffer frame = ByteBuffer.allocate(payload.length + 14);
    frame.put((byte) firstByte);
    if (payload.length < 126) {
      frame.put((byte) (0x80 | payload.length));
    } else if (payload.length < 65536) {
      frame.put((byte) (0x80 | 126)).putShort((short) payload.length);
    } else {
      frame.put((byte) (0x80 | 127)).putLong(payload.length);
    }
    byte[] mask = {7, 11, 13, 17};
    frame.put(mask);
    for (int i = 0; i < payload.length; i++) {
      frame.put((byte) (payload[i] ^ mask[i & 3]));
    }
    return Arrays.copyOf(frame.array(), frame.position());
  }

  /** The next frame; EOFException where the server closed the connection. */
  Frame read() throws IOException {
    int first = in.readUnsignedByte();
    int length = in.readUnsignedByte();
    if (length == 126) {
      length = in.readUnsignedShort();
    } else if (length == 127) {
      length = Math.toIntExact(in.readLong());
    }
    byte[] payload = new byte[length];
    in.readFully(payload);
    return new Frame(first & 15, payload);
  }

  /** Whether nothing arrives for so long. */
  boolean isQuiet(int millis) throws IOException {
    socket.setSoTimeout(millis);
    in.mark(1);
    try {
      int b = in.read();
      if (b < 0) {
        throw new EOFException();
      }
      in.reset();
      return false;
    } catch (java.net.SocketTimeoutException e) {
      return true;
    } finally {
      socket.setSoTimeout(20_000);
    }
  }

  String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.readUnsignedByte(); c != '\n'; c = in.readUnsignedByte()) {
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
