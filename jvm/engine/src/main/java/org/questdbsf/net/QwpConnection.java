package org.questdbsf.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A WebSocket to {@code /write/v4} of one server. {@link #send} is for one thread; everything else
 * may be called from any, but {@link #close(long)} not from {@link ConnectionEvents}.
 *
 * <p>The server's PINGs and CLOSE are answered here. A reply that is not of the protocol ends the
 * connection. Nothing can be sent before the upgrade is complete, since there is no connection
 * until then.
 */
public final class QwpConnection implements AutoCloseable {
  private static final long DEFAULT_CLOSE_MILLIS = 1000;

  /** For the event loop to report the end after it reset the socket. */
  private static final long SLACK_MILLIS = 2000;

  /** More bytes of replies than this do not wait to be taken: the socket is not read then. */
  private static final int MOST_WAITING = 1 << 20;

  private final Channel channel;
  private final AtomicInteger waiting = new AtomicInteger();
  private final Endpoint endpoint;
  private final int maxBatchBytes;
  private final boolean durableAck;
  private final String role;
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile boolean closing;
  private volatile boolean wasReset;
  private FrameHandler handler;

  QwpConnection(
      Channel channel, Endpoint endpoint, int maxBatchBytes, boolean durableAck, String role) {
    this.channel = channel;
    this.endpoint = endpoint;
    this.maxBatchBytes = maxBatchBytes;
    this.durableAck = durableAck;
    this.role = role;
  }

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
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    String authorization = Authorization.resolve(endpoint, settings.credentials());
    UpgradeHandler upgrade =
        Dialer.dial(
            endpoint,
            settings,
            () -> new UpgradeHandler(endpoint, settings, authorization, events));
    try {
      return upgrade.await();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof ConnectFailure failure) {
        throw failure;
      }
      throw ConnectFailure.transport(
          endpoint, "cannot use " + endpoint + ": " + Channels.describe(e), e.getCause());
    }
  }

  /** The server's address as configured. */
  public Endpoint endpoint() {
    return endpoint;
  }

  /** Largest message the server takes, in bytes ({@code X-QWP-Max-Batch-Size}); 0: not said. */
  public int maxBatchBytes() {
    return maxBatchBytes;
  }

  /** True when durable acknowledgements were asked for and granted. */
  public boolean durableAck() {
    return durableAck;
  }

  /** The server's role ({@code X-QuestDB-Role}); empty when not said. */
  public String role() {
    return role;
  }

  /**
   * A pooled heap buffer for one message: write to {@code array()} from {@code arrayOffset()} and
   * the writer index on, and set that. To be given to {@link #send}, or released.
   */
  public ByteBuf allocate(int bytes) {
    ByteBuf buffer = MessageBuffers.of(ClientFrame.HEADROOM + bytes);
    return buffer.setIndex(ClientFrame.HEADROOM, ClientFrame.HEADROOM);
  }

  /**
   * Queues one message of {@link #allocate} as one binary frame and takes the buffer over. Never
   * blocks: look at {@link #isWritable} first. On a connection that is closed or closing the
   * message is dropped.
   */
  public void send(ByteBuf message) {
    if (closing) {
      message.release();
      return;
    }
    ClientFrame.seal(message, ThreadLocalRandom.current().nextInt());
    channel.writeAndFlush(message);
  }

  /**
   * False while more than a few MiB wait for the socket, and when the connection has ended; then
   * wait for {@code onWritable} or {@code onClosed}.
   */
  public boolean isWritable() {
    return channel.isWritable();
  }

  /** Sends a PING, upon which a server flushes the acknowledgements it holds back. */
  public void ping() {
    if (!closing) {
      channel.writeAndFlush(new PingWebSocketFrame(Unpooled.wrappedBuffer(new byte[] {'s', 'f'})));
    }
  }

  /**
   * A reply was dealt with: its bytes wait no longer.
   *
   * @param bytes as {@link ConnectionEvents#onReply} was told
   */
  public void taken(int bytes) {
    int before = waiting.getAndAdd(-bytes);
    if (before > MOST_WAITING && before - bytes <= MOST_WAITING) {
      channel.eventLoop().execute(this::readOrNot);
    }
  }

  /** On the event loop: a reply waits to be taken. */
  void replyCame(int bytes) {
    if (waiting.addAndGet(bytes) > MOST_WAITING) {
      readOrNot();
    }
  }

  /** On the event loop only, so that the last look decides. */
  private void readOrNot() {
    channel.config().setAutoRead(waiting.get() <= MOST_WAITING);
  }

  /**
   * Sends a close frame with code 1000, goes on reporting replies until the server's echo, and
   * resets the connection when that does not come in time. Blocking; when it returns {@code
   * onClosed} was called. An interrupt ends the wait with a reset and is kept.
   *
   * @param waitMillis bound of the wait; 0: reset at once
   */
  public void close(long waitMillis) {
    long wait = Math.max(0, waitMillis);
    closing = true;
    channel.eventLoop().execute(() -> handler.beginClose(wait));
    boolean interrupted = false;
    try {
      ended.await(wait + SLACK_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      abort();
      awaitEndOfAbort();
      Thread.currentThread().interrupt();
    }
  }

  private void awaitEndOfAbort() {
    try {
      ended.await(SLACK_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      // a second interrupt: the caller sets the flag in any case, and the reset is under way
    }
  }

  /** {@link #close(long)} with one second. */
  @Override
  public void close() {
    close(DEFAULT_CLOSE_MILLIS);
  }

  /** Resets the connection at once; returns without waiting, {@code onClosed} follows. */
  public void abort() {
    closing = true;
    wasReset = true;
    Channels.reset(channel);
  }

  /** Endpoint and what the server said of itself. */
  @Override
  public String toString() {
    return "QwpConnection["
        + endpoint
        + (role.isEmpty() ? "" : ", " + role)
        + ", maxBatchBytes="
        + maxBatchBytes
        + (durableAck ? ", durable acks" : "")
        + "]";
  }

  void handledBy(FrameHandler frames) {
    handler = frames;
  }

  void closing() {
    closing = true;
  }

  boolean wasReset() {
    return wasReset;
  }

  void ended() {
    ended.countDown();
  }
}
