package org.questdbsf.hostile;

import static org.questdbsf.hostile.Mode.again;
import static org.questdbsf.hostile.Mode.taken;

import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import org.questdbsf.net.RawServer;

/** WebSocket frames that are none, or that no client can use. */
final class FrameModes {
  private FrameModes() {}

  static List<Mode> all() {
    return List.of(
        afterMessage("a masked frame", "8281010203040d"),
        afterMessage("a reserved bit", "c20100"),
        afterMessage("all reserved bits", "f20100"),
        afterMessage("opcode 3", "8300"),
        afterMessage("opcode 11", "8b00"),
        afterMessage("a text", "81024f4b"),
        afterMessage("a continuation of nothing", "800100"),
        afterMessage("a PING in pieces", "090100"),
        afterMessage("a PING of 200 bytes", "897e00c8" + "00".repeat(200)),
        afterMessage("a frame in a frame", "020100" + "820100"),
        afterMessage("a length of 2^63", "827f8000000000000000"),
        afterMessage("a length of 2^62", "827f4000000000000000"),
        afterMessage("4 GB announced", "827f0000000100000000"),
        afterMessage("16 MB announced", "827f0000000001000000"),
        afterMessage("a length that is too long", "827e0001" + "00"),
        afterMessage("half a header", "82"),
        afterMessage("half a length", "827e00"),
        afterMessage("half a frame", "821400000000"),
        afterMessage("an empty frame", "8200"),
        afterMessage("an empty text", "8100"),
        afterMessage("HTTP", HexFormat.of().formatHex("HTTP/1.1 200 OK\r\n\r\n".getBytes())),
        again("a frame half sent, then FIN", peer -> cut(peer, false)),
        again("a frame half sent, then RST", peer -> cut(peer, true)),
        again("a frame of 3 MB", FrameModes::largeFrame),
        taken("OKs in pieces with PINGs between", FrameModes::inPieces),
        taken("OKs byte by byte", FrameModes::byteByByte),
        taken("an empty piece before each OK", FrameModes::emptyPieces),
        taken("PONGs that nobody asked for", FrameModes::unaskedPongs),
        taken("a PING before each OK", FrameModes::pingsBetween));
  }

  private static Mode afterMessage(String name, String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    return again(
        name,
        peer -> {
          if (peer.upgradedWithMessage()) {
            peer.peer().write(bytes);
            peer.listen();
          }
        });
  }

  private static void cut(Conversation peer, boolean reset) throws IOException {
    if (peer.upgradedWithMessage()) {
      peer.peer().write(new byte[] {(byte) 0x82, 20, 0, 0, 0});
      if (reset) {
        peer.peer().reset();
      }
    }
  }

  private static void largeFrame(Conversation peer) throws IOException {
    if (peer.upgradedWithMessage()) {
      peer.peer().write(RawServer.frame(true, 2, new byte[3 << 20]));
      peer.listen();
    }
  }

  /** Writes a good OK for what was read in another way than at once. */
  @FunctionalInterface
  private interface Writer {
    void write(byte[] payload) throws IOException;
  }

  private static void behaveWith(Conversation peer, Writer writer) throws IOException {
    peer.upgrade();
    while (peer.next()) {
      writer.write(peer.okPayload());
    }
  }

  private static void inPieces(Conversation peer) throws IOException {
    behaveWith(
        peer,
        payload -> {
          for (int i = 0; i < payload.length; i++) {
            boolean last = i == payload.length - 1;
            byte[] piece = {payload[i]};
            peer.peer().write(RawServer.frame(last, i == 0 ? 2 : 0, piece));
            peer.peer().write(RawServer.frame(true, 9, piece));
          }
        });
  }

  private static void byteByByte(Conversation peer) throws IOException {
    behaveWith(
        peer,
        payload -> {
          for (byte b : RawServer.frame(true, 2, payload)) {
            peer.peer().write(new byte[] {b});
          }
        });
  }

  private static void emptyPieces(Conversation peer) throws IOException {
    behaveWith(
        peer,
        payload -> {
          peer.peer().write(RawServer.frame(false, 2, new byte[0]));
          peer.peer().write(RawServer.frame(true, 0, payload));
        });
  }

  private static void unaskedPongs(Conversation peer) throws IOException {
    behaveWith(
        peer,
        payload -> {
          peer.peer().write(RawServer.frame(true, 10, new byte[] {1, 2, 3}));
          peer.peer().write(RawServer.frame(true, 2, payload));
        });
  }

  private static void pingsBetween(Conversation peer) throws IOException {
    behaveWith(
        peer,
        payload -> {
          peer.peer().write(RawServer.frame(true, 9, new byte[125]));
          peer.peer().write(RawServer.frame(true, 2, payload));
        });
  }
}
