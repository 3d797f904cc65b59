package org.questdbsf.net;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;

/**
 * The one event-loop group of this JVM: daemon threads, started when first used, at most four
 * whatever the number of connections, never stopped.
 */
final class EventLoops {
  private static final int THREADS =
      Math.max(1, Math.min(4, Runtime.getRuntime().availableProcessors()));

  // NioEventLoopGroup is deprecated in 4.2, whose replacement is not in 4.1
  private static final EventLoopGroup SHARED =
      new NioEventLoopGroup(THREADS, new DefaultThreadFactory("questdb-sf-net", true));

  private EventLoops() {}

  static EventLoopGroup shared() {
    return SHARED;
  }
}
