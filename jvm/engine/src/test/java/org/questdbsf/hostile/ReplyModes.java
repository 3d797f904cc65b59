package org.questdbsf.hostile;

import static org.questdbsf.hostile.Mode.again;
import static org.questdbsf.hostile.Mode.taken;
import static org.questdbsf.hostile.Mode.terminal;

import java.io.IOException;
import java.util.HexFormat;
import java.util.List;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.net.RawServer;
import org.questdbsf.net.TableTxn;

/** Well-formed frames with replies that are wrong, or that refuse. */
final class ReplyModes {
  private static final int SCHEMA = 0x03;
  private static final int PARSE = 0x05;
  private static final int INTERNAL = 0x06;
  private static final int SECURITY = 0x08;
  private static final int WRITE = 0x09;
  private static final int NOT_WRITABLE = 0x0c;
  private static final int GAP = 0x0d;
  private static final long BEYOND = 1000;

  private ReplyModes() {}

  static List<Mode> all() {
    String sequence = "0000000000000000";
    return List.of(
        malformed("an OK without a sequence", "00"),
        malformed("an OK cut short", "00" + "0000"),
        malformed("an OK without tables", "00" + sequence),
        malformed("an OK with bytes behind it", "00" + sequence + "0000" + "ff"),
        malformed("an OK below 0", "00" + "ffffffffffffffff" + "0000"),
        malformed("an OK of 65,535 tables that has one", "00" + sequence + "ffff" + table()),
        malformed("an OK with an empty name", "00" + sequence + "0100" + "0000" + sequence),
        malformed("a name that is no UTF-8", "00" + sequence + "0100" + "0200fffe" + sequence),
        malformed("a local durable acknowledgement", "0e" + "0000"),
        malformed("a refusal without a text", "09" + sequence),
        malformed("a refusal whose text is cut", "09" + sequence + "ff00" + "6e6f"),
        malformed("a refusal below 0", "09" + "feffffffffffffff" + "0000"),
        again("durable acknowledgements, unasked", ReplyModes::durable),
        again("an OK beyond what was sent", peer -> claim(peer, BEYOND)),
        again("an OK of one message too many", peer -> claim(peer, Trial.ROWS)),
        again("the largest sequence there is", peer -> claim(peer, Long.MAX_VALUE)),
        taken("OKs that name nothing", peer -> answer(peer)),
        terminal(
            "OKs of another table",
            ErrorCode.POISON_FRAME,
            peer -> answer(peer, new TableTxn("other", 1))),
        terminal(
            "OKs of transaction 0",
            ErrorCode.POISON_FRAME,
            peer -> answer(peer, new TableTxn(Conversation.TABLE, 0))),
        terminal(
            "OKs of a transaction below 0",
            ErrorCode.POISON_FRAME,
            peer -> answer(peer, new TableTxn(Conversation.TABLE, Long.MIN_VALUE))),
        again(
            "transactions that stand still",
            peer -> answer(peer, new TableTxn(Conversation.TABLE, 1))),
        refused("status 3", Mode.End.TAKEN, null, SCHEMA, "no"),
        refused("a long text", Mode.End.TAKEN, null, SCHEMA, "\u001b[2J\r\n\u0000x".repeat(7000)),
        refused("status 5", Mode.End.TERMINAL, ErrorCode.SERVER_REJECTED, PARSE, "no"),
        refused("status 8", Mode.End.TERMINAL, ErrorCode.SERVER_REJECTED, SECURITY, "no"),
        refused("status 9", Mode.End.TERMINAL, ErrorCode.POISON_FRAME, WRITE, "no"),
        refused("status 6", Mode.End.TERMINAL, ErrorCode.POISON_FRAME, INTERNAL, "no"),
        refused("a full disk", Mode.End.AGAIN, null, INTERNAL, "No space left [size=1]"),
        refused("a busy table", Mode.End.AGAIN, null, WRITE, "table busy [t]"),
        refused("not writable", Mode.End.AGAIN, null, NOT_WRITABLE, "no"),
        refused("a gap", Mode.End.TERMINAL, ErrorCode.POISON_FRAME, GAP, "no"),
        refused("status 1", Mode.End.TERMINAL, ErrorCode.SERVER_REJECTED, 1, "?"),
        refused("status 255", Mode.End.TERMINAL, ErrorCode.SERVER_REJECTED, 255, "?"),
        again("refuses what was never sent", peer -> refuse(peer, BEYOND)),
        again("refuses what it acknowledged", ReplyModes::refuseAcknowledged),
        taken("acknowledges what it refused", ReplyModes::acknowledgeRefused));
  }

  private static String table() {
    return "0100" + "74" + "0100000000000000";
  }

  private static Mode malformed(String name, String hex) {
    byte[] payload = HexFormat.of().parseHex(hex);
    return again(
        name,
        peer -> {
          if (peer.upgradedWithMessage()) {
            peer.peer().reply(payload);
            peer.listen();
          }
        });
  }

  private static Mode refused(String name, Mode.End end, ErrorCode error, int status, String text) {
    Mode.Script script =
        peer -> {
          if (peer.upgradedWithMessage()) {
            peer.peer().reply(RawServer.nack(status, peer.last(), text));
            peer.listen();
          }
        };
    return new Mode("refuses: " + name, end, error, script, Conversation::refuseSql);
  }

  private static void durable(Conversation peer) throws IOException {
    peer.upgrade();
    while (peer.next()) {
      peer.peer().reply(RawServer.durable(new TableTxn(Conversation.TABLE, BEYOND)));
    }
  }

  private static void claim(Conversation peer, long sequence) throws IOException {
    if (peer.upgradedWithMessage()) {
      TableTxn table = new TableTxn(Conversation.TABLE, BEYOND);
      peer.peer().reply(RawServer.ok(sequence, table));
      peer.listen();
    }
  }

  private static void answer(Conversation peer, TableTxn... tables) throws IOException {
    peer.upgrade();
    while (peer.next()) {
      peer.okNaming(peer.last(), tables);
    }
  }

  private static void refuse(Conversation peer, long sequence) throws IOException {
    if (peer.upgradedWithMessage()) {
      peer.peer().reply(RawServer.nack(SCHEMA, sequence, "no"));
      peer.listen();
    }
  }

  private static void refuseAcknowledged(Conversation peer) throws IOException {
    if (peer.upgradedWithMessage()) {
      peer.ok();
      peer.peer().reply(RawServer.nack(SCHEMA, 0, "no"));
      peer.listen();
    }
  }

  private static void acknowledgeRefused(Conversation peer) throws IOException {
    if (peer.upgradedWithMessage()) {
      peer.peer().reply(RawServer.nack(SCHEMA, 0, "no"));
      peer.peer().reply(RawServer.ok(0, new TableTxn(Conversation.TABLE, 1)));
      peer.listen();
    }
  }
}
