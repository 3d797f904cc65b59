package org.questdbsf.testserver;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http.websocketx.WebSocketFrameDecoder;
import java.util.List;
import java.util.function.IntSupplier;
import org.questdbsf.testserver.ClientFrame.Kind;

/**
 * Bytes of a client to frames, as the real server takes them: a length need not be in its shortest
 * form, one above the cap is refused before the payload comes, and what is not WebSocket ends the
 * connection without a word. After CLOSE and after a refusal everything is read and forgotten.
 */
final class FrameDecoder extends ByteToMessageDecoder implements WebSocketFrameDecoder {
  private static final int CONTINUATION = 0;
  private static final int TEXT = 1;
  private static final int BINARY = 2;
  private static final int CLOSE = 8;
  private static final int PING = 9;
  private static final int PONG = 10;
  private static final int MASK_BYTES = 4;
  private static final int MAX_CONTROL_BYTES = 125;

  private final IntSupplier cap;
  private boolean ended;

  FrameDecoder(IntSupplier cap) {
    this.cap = cap;
  }

  @Override
  protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
    ClientFrame frame = ended ? null : next(in);
    if (frame != null) {
      out.add(frame);
      ended = frame.kind().last;
    }
    if (ended) {
      in.skipBytes(in.readableBytes());
    }
  }

  /** The next frame, or null while it is not there. */
  private ClientFrame next(ByteBuf in) {
    if (in.readableBytes() < 2) {
      return null;
    }
    int first = in.getUnsignedByte(in.readerIndex());
    int second = in.getUnsignedByte(in.readerIndex() + 1);
    int opcode = first & 0x0F;
    boolean last = (first & 0x80) != 0;
    boolean control = opcode >= CLOSE;
    if ((first & 0x70) != 0
        || (second & 0x80) == 0
        || opcode > BINARY && opcode < CLOSE
        || opcode > PONG
        || control && !last) {
      return ClientFrame.of(Kind.BROKEN);
    }
    int extended = extendedBytes(second & 0x7F);
    int header = 2 + extended + MASK_BYTES;
    if (in.readableBytes() < header) {
      return null;
    }
    long length = length(in, second & 0x7F, extended);
    if (length < 0 || control && length > MAX_CONTROL_BYTES || opcode == CLOSE && length == 1) {
      return ClientFrame.of(Kind.BROKEN);
    }
    if (length > cap.getAsInt()) {
      return ClientFrame.of(Kind.TOO_BIG);
    }
    if (in.readableBytes() < header + length) {
      return null;
    }
    in.skipBytes(header - MASK_BYTES);
    return new ClientFrame(kind(opcode, last), payload(in, (int) length));
  }

  private static int extendedBytes(int shortLength) {
    return switch (shortLength) {
      case 126 -> Short.BYTES;
      case 127 -> Long.BYTES;
      default -> 0;
    };
  }

  private static long length(ByteBuf in, int shortLength, int extended) {
    int at = in.readerIndex() + 2;
    return switch (extended) {
      case Short.BYTES -> in.getUnsignedShort(at);
      case Long.BYTES -> in.getLong(at);
      default -> shortLength;
    };
  }

  private static byte[] payload(ByteBuf in, int length) {
    byte[] mask = new byte[MASK_BYTES];
    in.readBytes(mask);
    byte[] payload = new byte[length];
    in.readBytes(payload);
    for (int i = 0; i < length; i++) {
      payload[i] ^= mask[i & 3];
    }
    return payload;
  }

  private static Kind kind(int opcode, boolean last) {
    return switch (opcode) {
      case TEXT -> Kind.TEXT;
      case CONTINUATION -> Kind.FRAGMENT;
      case BINARY -> last ? Kind.MESSAGE : Kind.FRAGMENT;
      case CLOSE -> Kind.CLOSE;
      case PING -> Kind.PING;
      default -> Kind.PONG;
    };
  }
}
