package org.questdbsf.hostile;

import static org.questdbsf.hostile.Mode.again;

import java.io.IOException;
import java.util.List;
import org.questdbsf.net.RawServer;
import org.questdbsf.net.TableTxn;

/** As much as the client takes, as fast as it takes it, beside a message that is not answered. */
final class FloodModes {
  private static final int TABLES = 1000;

  private FloodModes() {}

  static List<Mode> all() {
    return List.of(
        flood("PINGs", RawServer.frame(true, 9, new byte[125])),
        flood("empty PINGs", RawServer.frame(true, 9, new byte[0])),
        flood("PONGs", RawServer.frame(true, 10, new byte[125])),
        flood("texts", RawServer.frame(true, 1, new byte[125])),
        flood("refusals", frame(RawServer.nack(6, 0, "No space left"))),
        flood("refusals of 64 kB", frame(RawServer.nack(6, 0, "No space left".repeat(5000)))),
        flood("durable acknowledgements", frame(RawServer.durable(new TableTxn("t", 1)))),
        flood("closes", RawServer.frame(true, 8, RawServer.closePayload(1001, "bye"))),
        flood("zeros", new byte[65536]),
        again("floods: the same OK", FloodModes::sameOk),
        again("floods: PINGs from the upgrade on", FloodModes::pingsAtOnce),
        again("floods: empty pieces", FloodModes::emptyPieces),
        again("floods: pieces of one byte", FloodModes::smallPieces),
        again("floods: OKs with new names", peer -> newNames(peer, true)),
        again("floods: durable acknowledgements with new names", peer -> newNames(peer, false)),
        again("floods: OKs while SQL hangs", FloodModes::sameOk).withSql(SqlModes::hangOnceKnown));
  }

  private static byte[] frame(byte[] payload) {
    return RawServer.frame(true, 2, payload);
  }

  private static Mode flood(String what, byte[] bytes) {
    return again(
        "floods: " + what,
        peer -> {
          if (peer.upgradedWithMessage()) {
            peer.flood(bytes);
          }
        });
  }

  private static void sameOk(Conversation peer) throws IOException {
    if (peer.upgradedWithMessage()) {
      peer.flood(frame(peer.okPayload()));
    }
  }

  private static void pingsAtOnce(Conversation peer) throws IOException {
    peer.upgrade();
    peer.flood(RawServer.frame(true, 9, new byte[125]));
  }

  private static void emptyPieces(Conversation peer) throws IOException {
    if (peer.upgradedWithMessage()) {
      peer.peer().write(RawServer.frame(false, 2, new byte[0]));
      peer.flood(RawServer.frame(false, 0, new byte[0]));
    }
  }

  private static void smallPieces(Conversation peer) throws IOException {
    if (peer.upgradedWithMessage()) {
      peer.peer().write(RawServer.frame(false, 2, new byte[1]));
      peer.flood(RawServer.frame(false, 0, new byte[1]));
    }
  }

  private static void newNames(Conversation peer, boolean ok) throws IOException {
    if (!peer.upgradedWithMessage()) {
      return;
    }
    if (ok) {
      peer.ok();
    }
    TableTxn[] tables = new TableTxn[TABLES];
    for (int n = 0; peer.goesOn(); n++) {
      for (int i = 0; i < TABLES; i++) {
        tables[i] = new TableTxn("table-" + n + "-" + i, 1);
      }
      peer.peer().reply(ok ? RawServer.ok(0, tables) : RawServer.durable(tables));
    }
  }
}
