package org.questdbsf.sender;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.websocketx.BinaryWebSocketFrame;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerHandshakerFactory;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.questdbsf.net.TableTxn;
import org.questdbsf.qwp.ConnectionSymbols;
import org.questdbsf.qwp.MessageDecoder;
import org.questdbsf.qwp.QwpMessage;

/**
 * A WebSocket server without SQL whose answers a test decides. One thread, on which all of a script
 * runs, so that scripts need no locks. Each message is decoded strictly; one that does not decode
 * fails the test at {@link #close}.
 */
final class ScriptServer implements AutoCloseable {
  /** What the server does. */
  interface Script {
    /** How to answer an upgrade; a status other than 101 refuses it. */
    default Upgrade upgrade(int connection) {
      return new Upgrade(101, new DefaultHttpHeaders());
    }

    /** A message arrived. */
    void message(Session session, long sequence, QwpMessage message);

    /** A PING arrived; the PONG is sent after this. */
    default boolean ping(Session session) {
      return true;
    }

    /** A close frame arrived; the echo is sent after this. */
    default void closing(Session session) {}
  }

  record Upgrade(int status, HttpHeaders headers) {
    static Upgrade accept(String... namesAndValues) {
      return refuse(101, namesAndValues);
    }

    static Upgrade refuse(int status, String... namesAndValues) {
      HttpHeaders headers = new DefaultHttpHeaders();
      for (int i = 0; i < namesAndValues.length; i += 2) {
        headers.set(namesAndValues[i], namesAndValues[i + 1]);
      }
      return new Upgrade(status, headers);
    }
  }

  private static final Upgrade NO_SQL = Upgrade.refuse(404);

  private final EventLoopGroup group = new NioEventLoopGroup(1);
  private final Script script;
  private final Channel listener;
  private volatile int connections;

  /** Transactions of each table. */
  final Map<String, Long> transactions = new ConcurrentHashMap<>();

  final List<Throwable> failures = new CopyOnWriteArrayList<>();
  final List<Session> open = new CopyOnWriteArrayList<>();
  final List<Integer> sizes = new CopyOnWriteArrayList<>();
  final List<Long> upgradeNanos = new CopyOnWriteArrayList<>();

  ScriptServer(Script script) throws InterruptedException {
    this(0, script);
  }

  ScriptServer(int port, Script script) throws InterruptedException {
    this.script = script;
    this.listener =
        new ServerBootstrap()
            .group(group)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel
                        .pipeline()
                        .addLast(new HttpServerCodec())
                        .addLast(new HttpObjectAggregator(8192))
                        .addLast(new UpgradeHandler());
                  }
                })
            .bind("127.0.0.1", port)
            .sync()
            .channel();
  }

  int port() {
    return ((InetSocketAddress) listener.localAddress()).getPort();
  }

  String address() {
    return "127.0.0.1:" + port();
  }

  /** Upgrades asked for so far. */
  int connections() {
    return connections;
  }

  /** Runs something on the server's thread and waits for it. */
  void run(Runnable action) throws InterruptedException {
    group.next().submit(action).sync();
  }

  @Override
  public void close() throws InterruptedException {
    if (group.isShuttingDown()) {
      return;
    }
    listener.close().sync();
    run(() -> open.forEach(Session::reset));
    group.shutdownGracefully(0, 2, TimeUnit.SECONDS).sync();
    if (!failures.isEmpty()) {
      AssertionError error = new AssertionError("the server saw: " + failures.get(0));
      error.initCause(failures.get(0));
      throw error;
    }
  }

  private final class UpgradeHandler extends SimpleChannelInboundHandler<FullHttpRequest> {
    @Override
    protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
      if (request.uri().startsWith("/exec")) {
        refuse(context, NO_SQL);
        return;
      }
      upgradeNanos.add(System.nanoTime());
      Upgrade upgrade = script.upgrade(connections++);
      if (upgrade.status() != 101) {
        refuse(context, upgrade);
        return;
      }
      Session session = new Session(context.channel());
      WebSocketServerHandshakerFactory factory =
          new WebSocketServerHandshakerFactory("ws://x/write/v4", null, false, 20 << 20);
      factory
          .newHandshaker(request)
          .handshake(context.channel(), request, upgrade.headers(), context.channel().newPromise());
      context.pipeline().replace(this, "frames", session);
      open.add(session);
    }

    private static void refuse(ChannelHandlerContext context, Upgrade upgrade) {
      DefaultFullHttpResponse refusal =
          new DefaultFullHttpResponse(
              HttpVersion.HTTP_1_1,
              HttpResponseStatus.valueOf(upgrade.status()),
              Unpooled.copiedBuffer("no: " + upgrade.status(), StandardCharsets.UTF_8));
      refusal.headers().add(upgrade.headers()).set("Content-Length", 7);
      context.writeAndFlush(refusal);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }

  /** One connection, seen by the script. */
  final class Session extends SimpleChannelInboundHandler<WebSocketFrame> {
    private final Channel channel;
    private final MessageDecoder decoder = new MessageDecoder(new ConnectionSymbols());
    private final TreeMap<Long, Set<String>> commits = new TreeMap<>();
    private Set<String> group = new TreeSet<>();
    private long received;
    private boolean deaf;

    private Session(Channel channel) {
      this.channel = channel;
    }

    /** Messages received. */
    long received() {
      return received;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, WebSocketFrame frame) {
      if (deaf) {
        return;
      }
      try {
        if (frame instanceof BinaryWebSocketFrame) {
          byte[] bytes = new byte[frame.content().readableBytes()];
          frame.content().readBytes(bytes);
          sizes.add(bytes.length);
          QwpMessage message = decoder.decode(bytes, 0, bytes.length);
          note(message);
          script.message(this, received++, message);
        } else if (frame instanceof PingWebSocketFrame) {
          if (script.ping(this)) {
            channel.writeAndFlush(new PongWebSocketFrame(frame.content().retain()));
          }
        } else if (frame instanceof CloseWebSocketFrame) {
          script.closing(this);
          channel.writeAndFlush(new CloseWebSocketFrame(1000, ""));
          channel.close();
        }
      } catch (Exception | AssertionError e) {
        failures.add(e);
        reset();
      }
    }

    private void note(QwpMessage message) {
      message.tables().stream()
          .filter(table -> table.rows() > 0)
          .forEach(table -> group.add(table.name()));
      if (!message.deferred()) {
        commits.put(received, group);
        group = new TreeSet<>();
      }
    }

    /** An OK that names what the messages since the last one commit, as servers do. */
    void ok(long sequence) {
      Map<String, TableTxn> named = new TreeMap<>();
      Map<Long, Set<String>> settled = commits.headMap(sequence, true);
      for (Set<String> tables : settled.values()) {
        for (String table : tables) {
          long txn = transactions.merge(table, 1L, Long::sum);
          named.put(table, new TableTxn(table, txn));
        }
      }
      settled.clear();
      okNaming(sequence, named.values().toArray(TableTxn[]::new));
    }

    /** An OK that names these tables, and no others. */
    void okNaming(long sequence, TableTxn... tables) {
      ByteBuf reply = Unpooled.buffer();
      reply.writeByte(0).writeLongLE(sequence);
      writeTables(reply, tables);
    }

    void durable(TableTxn... tables) {
      writeTables(Unpooled.buffer().writeByte(2), tables);
    }

    private void writeTables(ByteBuf reply, TableTxn... tables) {
      reply.writeShortLE(tables.length);
      for (TableTxn table : tables) {
        byte[] name = table.table().getBytes(StandardCharsets.UTF_8);
        reply.writeShortLE(name.length).writeBytes(name).writeLongLE(table.seqTxn());
      }
      channel.writeAndFlush(new BinaryWebSocketFrame(reply));
    }

    void nack(int status, long sequence, String message) {
      byte[] text = message.getBytes(StandardCharsets.UTF_8);
      ByteBuf reply = Unpooled.buffer().writeByte(status).writeLongLE(sequence);
      reply.writeShortLE(text.length).writeBytes(text);
      channel.writeAndFlush(new BinaryWebSocketFrame(reply));
      // As servers do: what is pipelined behind is consumed without effect.
      deaf = true;
    }

    /** Runs something on this server's thread after a while. */
    void later(long millis, Runnable action) {
      channel.eventLoop().schedule(action, millis, TimeUnit.MILLISECONDS);
    }

    void raw(byte[] bytes) {
      channel.writeAndFlush(new BinaryWebSocketFrame(Unpooled.wrappedBuffer(bytes)));
    }

    void closeWith(int code, String reason) {
      deaf = true;
      channel
          .writeAndFlush(new CloseWebSocketFrame(code, reason))
          .addListener(done -> channel.close());
    }

    /** Ends the connection without a word. */
    void reset() {
      deaf = true;
      if (channel.isActive()) {
        channel.config().setOption(ChannelOption.SO_LINGER, 0);
      }
      channel.close();
    }

    boolean isOpen() {
      return channel.isActive();
    }

    /** Leaves what comes in the socket. */
    void stopReading() {
      channel.config().setAutoRead(false);
    }

    /** Ends the connection with a FIN and no close frame. */
    void finish() {
      deaf = true;
      channel.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      open.remove(this);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }
}
