package org.questdbsf.hostile;

import static org.questdbsf.hostile.Mode.again;
import static org.questdbsf.hostile.Mode.taken;

import java.io.IOException;
import java.util.List;
import org.questdbsf.net.RawServer;

/** A server that takes messages and does not acknowledge them, or late, or few. */
final class SilenceModes {
  private static final long SLOWLY_MILLIS = 50;

  private SilenceModes() {}

  static List<Mode> all() {
    return List.of(
        again("says nothing", SilenceModes::nothing),
        again("answers PINGs only", peer -> listen(peer)),
        again("never reads", SilenceModes::deaf),
        again("never reads from the first message on", SilenceModes::deafLater),
        again("sends PINGs only", peer -> slowly(peer, RawServer.frame(true, 9, new byte[4]))),
        again("sends PONGs only", peer -> slowly(peer, RawServer.frame(true, 10, new byte[4]))),
        again("sends empty pieces only", SilenceModes::emptyPieces),
        again("sends an OK that never ends", SilenceModes::endlessOk),
        again("acknowledges the first message only", SilenceModes::firstOnly),
        again("shuts its half of the connection", SilenceModes::halfShut),
        taken("acknowledges slowly", SilenceModes::slowOks),
        taken("acknowledges upon PINGs only", SilenceModes::uponPing));
  }

  private static void listen(Conversation peer) throws IOException {
    peer.upgrade();
    peer.listen();
  }

  private static void nothing(Conversation peer) throws IOException {
    peer.withoutPongs();
    listen(peer);
  }

  private static void deaf(Conversation peer) throws Exception {
    peer.upgrade();
    while (peer.goesOn()) {
      Thread.sleep(SLOWLY_MILLIS);
    }
  }

  private static void deafLater(Conversation peer) throws Exception {
    if (peer.upgradedWithMessage()) {
      while (peer.goesOn()) {
        Thread.sleep(SLOWLY_MILLIS);
      }
    }
  }

  private static void slowly(Conversation peer, byte[] bytes) throws Exception {
    if (peer.upgradedWithMessage()) {
      while (peer.goesOn()) {
        peer.peer().write(bytes);
        Thread.sleep(SLOWLY_MILLIS);
      }
    }
  }

  private static void emptyPieces(Conversation peer) throws Exception {
    if (peer.upgradedWithMessage()) {
      peer.peer().write(RawServer.frame(false, 2, new byte[0]));
      while (peer.goesOn()) {
        peer.peer().write(RawServer.frame(false, 0, new byte[0]));
        Thread.sleep(SLOWLY_MILLIS);
      }
    }
  }

  private static void endlessOk(Conversation peer) throws Exception {
    if (peer.upgradedWithMessage()) {
      peer.peer().write(RawServer.frame(false, 2, new byte[1]));
      while (peer.goesOn()) {
        peer.peer().write(RawServer.frame(false, 0, new byte[1]));
        Thread.sleep(SLOWLY_MILLIS);
      }
    }
  }

  private static void firstOnly(Conversation peer) throws IOException {
    if (peer.upgradedWithMessage()) {
      peer.ok();
      peer.listen();
    }
  }

  private static void halfShut(Conversation peer) throws IOException {
    if (peer.upgradedWithMessage()) {
      peer.peer().socket.shutdownOutput();
      peer.listen();
    }
  }

  private static void slowOks(Conversation peer) throws Exception {
    peer.upgrade();
    while (peer.next()) {
      Thread.sleep(SLOWLY_MILLIS);
      peer.ok();
    }
  }

  private static void uponPing(Conversation peer) throws IOException {
    peer.upgrade();
    while (peer.nextPing()) {
      peer.ok();
    }
  }
}
