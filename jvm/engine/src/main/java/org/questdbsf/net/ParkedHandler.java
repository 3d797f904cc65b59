package org.questdbsf.net;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** On a kept connection between two exchanges. Closes it when it is not used for long. */
final class ParkedHandler extends ChannelInboundHandlerAdapter {
  static final String NAME = "parked";

  private static final long IDLE_SECONDS = 10;

  private ScheduledFuture<?> idle;

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    idle = ctx.executor().schedule((Runnable) ctx::close, IDLE_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    idle.cancel(false);
  }

  /** Nobody asked: whatever it is, it must not be taken for the next answer. */
  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    ReferenceCountUtil.release(message);
    ctx.close();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    ctx.close();
  }
}
