package org.questdbsf.sender;

import java.time.temporal.ChronoUnit;
import java.util.EnumMap;
import java.util.Map;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.TableBlock;

/** Senders as the tests want them. */
final class Senders {
  /** Column with a text that only its row has, made from the number. */
  static final String SYMBOL = "s";

  private Senders() {}

  /** A builder with quick back-off, no limit on reconnects a second, and more keys. */
  static SenderBuilder builder(String addresses, String keys) {
    Map<ConnectKey, String> all =
        new EnumMap<>(
            ConnectString.parse(
                "ws::addr="
                    + addresses
                    + ";initial_connect_retry=async;reconnect_initial_backoff_millis=1;"
                    + "reconnect_max_backoff_millis=5;sf_max_segment_bytes=64k;"));
    all.putAll(ConnectString.parse("ws::" + keys));
    all.put(ConnectKey.ADDR, addresses);
    SenderBuilder builder = Sender.builder(SenderConfig.of(all));
    builder.pacer = new ReconnectPacer(1_000_000);
    return builder;
  }

  static Sender open(ScriptServer server, String keys) throws InterruptedException {
    return builder(server.address(), keys).build();
  }

  /** Publishes one frame with rows {@code from} up to {@code to}. */
  static long publish(Sender sender, String table, long from, long to) throws InterruptedException {
    TableBlock block = sender.newBlock(table);
    for (long n = from; n < to; n++) {
      addRow(block, n);
    }
    return sender.publish(block);
  }

  static void addRow(TableBlock block, long n) {
    block.column(Database.NUMBER, QwpType.LONG).putLong(n);
    block.column(SYMBOL, QwpType.SYMBOL).putText("s" + n % 1000);
    block.designated(QwpType.TIMESTAMP).putLong(n);
    block.endRow();
  }

  static void writeRow(Sender sender, String table, long n) throws InterruptedException {
    sender
        .table(table)
        .symbol(SYMBOL, "s" + n % 1000)
        .longColumn(Database.NUMBER, n)
        .at(n, ChronoUnit.MICROS);
  }
}
