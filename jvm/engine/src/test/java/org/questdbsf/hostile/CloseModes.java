package org.questdbsf.hostile;

import static org.questdbsf.hostile.Mode.again;
import static org.questdbsf.hostile.Mode.terminal;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.net.RawServer;

/** Ends of a connection. */
final class CloseModes {
  /** Codes that say nothing about a frame. */
  private static final int[] PASSING = {1000, 1001, 4001};

  /** Codes that the client specification calls terminal. */
  private static final int[] TERMINAL = {1002, 1003, 1007, 1008, 1009, 1010};

  /** Codes that make a frame poison when they come again and again. */
  private static final int[] STRIKES = {1011, 1012, 1013, 4999};

  private CloseModes() {}

  static List<Mode> all() {
    List<Mode> modes = new ArrayList<>();
    for (int code : PASSING) {
      modes.add(again("closes with " + code, peer -> close(peer, code, "bye")));
    }
    for (int code : TERMINAL) {
      Mode.Script script = peer -> close(peer, code, "bye");
      modes.add(terminal("closes with " + code, ErrorCode.PROTOCOL_VIOLATION, script));
    }
    for (int code : STRIKES) {
      Mode.Script script = peer -> close(peer, code, "bye");
      modes.add(terminal("closes with " + code, ErrorCode.POISON_FRAME, script));
    }
    modes.add(again("closes without a code", peer -> raw(peer, "8800")));
    modes.add(again("closes with one byte", peer -> raw(peer, "880103")));
    modes.add(again("closes with 999", peer -> close(peer, 999, "")));
    modes.add(again("closes with 1005", peer -> close(peer, 1005, "")));
    modes.add(again("closes with 1006", peer -> close(peer, 1006, "")));
    modes.add(again("closes with a reason that is no UTF-8", peer -> raw(peer, "880403e8fffe")));
    modes.add(again("closes and goes on", CloseModes::closeAndGoOn));
    modes.add(again("closes before the first message", CloseModes::closeAtOnce));
    modes.add(again("ends after each message", peer -> peer.upgradedWithMessage()));
    modes.add(again("resets after each message", CloseModes::reset));
    return modes;
  }

  private static void close(Conversation peer, int code, String reason) throws IOException {
    if (peer.upgradedWithMessage()) {
      peer.peer().close(code, reason);
      peer.listen();
    }
  }

  private static void raw(Conversation peer, String hex) throws IOException {
    if (peer.upgradedWithMessage()) {
      peer.peer().write(HexFormat.of().parseHex(hex));
      peer.listen();
    }
  }

  private static void closeAndGoOn(Conversation peer) throws IOException {
    if (peer.upgradedWithMessage()) {
      peer.peer().close(1000, "bye");
      peer.flood(RawServer.frame(true, 2, RawServer.ok(0)));
    }
  }

  private static void closeAtOnce(Conversation peer) throws IOException {
    peer.upgrade();
    peer.peer().close(1000, "full");
    peer.listen();
  }

  private static void reset(Conversation peer) throws IOException {
    if (peer.upgradedWithMessage()) {
      peer.peer().reset();
    }
  }
}
