package org.questdbsf.net;

import io.netty.buffer.ByteBuf;

/** A WebSocket to {@code /write/v4}. */
public final class QwpConnection implements AutoCloseable {

  /**
   * Connects, blocking. Look-up and TCP are bounded by the connect time-out, TLS and upgrade by the
   * auth time-out.
   *
   * @param events told of everything; see there for the thread and the order
   * @throws ConnectFailure when the endpoint gives no connection; no event comes then
   * @throws InterruptedException when interrupted; nothing is left behind and no event comes
   */
  public static QwpConnection open(
      Endpoint endpoint, ConnectSettings settings, ConnectionEvents events)
      throws ConnectFailure, InterruptedException {
    throw new UnsupportedOperationException("not yet");
  }

  private QwpConnection() {}

  /** The server's address as configured. */
  public Endpoint endpoint() {
    throw new UnsupportedOperationException("not yet");
  }

  /** Largest message the server takes, in bytes ({@code X-QWP-Max-Batch-Size}); 0: not said. */
  public int maxBatchBytes() {
    throw new UnsupportedOperationException("not yet");
  }

  /** True when durable acknowledgements were asked for and granted. */
  public boolean durableAck() {
    throw new UnsupportedOperationException("not yet");
  }

  /** The server's role ({@code X-QuestDB-Role}); empty when not said. */
  public String role() {
    throw new UnsupportedOperationException("not yet");
  }

  /**
   * A pooled heap buffer for one message: write to {@code array()} from {@code arrayOffset()} and
   * set the writer index. To be given to {@link #send}, or released.
   */
  public ByteBuf allocate(int bytes) {
    throw new UnsupportedOperationException("not yet");
  }

  /**
   * Queues one message as one binary frame and takes the buffer over. Never blocks: look at {@link
   * #isWritable} first. On a connection that is closed or closing the message is dropped.
   */
  public void send(ByteBuf message) {
    throw new UnsupportedOperationException("not yet");
  }

  /** False while more than a few MiB wait for the socket; then wait for {@code onWritable}. */
  public boolean isWritable() {
    throw new UnsupportedOperationException("not yet");
  }

  /** Sends a PING, upon which a server flushes the acknowledgements it holds back. */
  public void ping() {
    throw new UnsupportedOperationException("not yet");
  }

  /** {@code System.nanoTime()} when bytes (also a PONG) last came from the server. */
  public long lastReceivedNanos() {
    throw new UnsupportedOperationException("not yet");
  }

  /**
   * Sends a close frame with code 1000, goes on reporting replies until the server's echo, and
   * resets the connection when that does not come in time. Blocking; when it returns {@code
   * onClosed} was called. An interrupt ends the wait with a reset and is kept.
   *
   * @param waitMillis bound of the wait; 0: reset at once after the close frame was handed over
   */
  public void close(long waitMillis) {
    throw new UnsupportedOperationException("not yet");
  }

  /** {@link #close(long)} with one second. */
  @Override
  public void close() {
    close(1000);
  }

  /** Resets the connection at once; returns without waiting, {@code onClosed} follows. */
  public void abort() {
    throw new UnsupportedOperationException("not yet");
  }
}
