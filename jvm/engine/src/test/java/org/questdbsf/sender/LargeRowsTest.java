package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.questdbsf.sender.Database.assertTrueEventually;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.ConnectionSymbols;
import org.questdbsf.qwp.DecodedTable;
import org.questdbsf.qwp.MessageDecoder;
import org.questdbsf.qwp.QwpMessage;
import org.questdbsf.sender.ScriptServer.Upgrade;

/** Rows of about the size of a frame. */
@Timeout(60)
class LargeRowsTest {
  private static final String CAP = "X-QWP-Max-Batch-Size";
  private static final String KEYS =
      "sf_max_segment_bytes=1m;frame_bytes=1m;sf_max_total_bytes=8m;auto_flush=off;"
          + "initial_connect_retry=on;";

  private static final List<Integer> LARGE = List.of(0, 4, 5, 9);

  private static Recorder capped(int cap) {
    Recorder script = Recorder.accepting();
    script.upgrades = connection -> Upgrade.accept(CAP, Integer.toString(cap));
    return script;
  }

  private static Row row(Sender sender, long n, int textBytes) {
    Row row = sender.table("wide").longColumn(Database.NUMBER, n);
    return row.stringColumn("text", "x".repeat(textBytes)).symbol("s", "symbol " + n);
  }

  /** A quick look at such a row says twice as much as it has. */
  @Test
  void aSparseRowOfAWideTableMayFillAFrameToTheLastByte() throws Exception {
    int limit = 36_000;
    Recorder script = capped(limit * 10 / 9);
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, KEYS)) {
      for (int n = 0; n < 20; n++) {
        Row row = row(sender, n, 1);
        for (int i = 0; i < 100; i++) {
          row.longColumn("c%04d".formatted(100 * n + i), i);
        }
        row.atNow();
      }
      assertTrue(sender.drain(20_000));
      row(sender, 20, 1_000).atNow();
      assertTrue(sender.drain(20_000));
      int text = 1_000 + limit - server.sizes.get(server.sizes.size() - 1);
      assertTrue(text > 10_000, "there is much room: " + text);
      row(sender, 21, text - 20).atNow();
      assertTrue(sender.drain(20_000));
      int longest = text - 20 + limit - server.sizes.get(server.sizes.size() - 1);
      Row more = row(sender, 22, longest + 1);
      SfException thrown = assertThrows(SfException.class, more::atNow);
      assertEquals(ErrorCode.FRAME_TOO_LARGE, thrown.code());
      assertTrue(thrown.getMessage().contains("takes 36001 bytes"), thrown.getMessage());
      assertTrue(thrown.getMessage().contains("column 'text'"), thrown.getMessage());
      sender.cancelRow();
      row(sender, 22, longest).atNow();
      assertTrue(sender.drain(20_000));
      assertEquals(limit, server.sizes.get(server.sizes.size() - 1));
      script.database.assertComplete("wide", 23);
    }
  }

  /** Columns that came later are not in the frames of rows that were there before. */
  @Test
  void aRowThatFillsAFrameIsNotMadeLargerByTheNext() throws Exception {
    Recorder script = capped(20_000);
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = Senders.open(server, KEYS)) {
      int text = 18_100;
      while (!fits(sender, text)) {
        text--;
      }
      for (int n = 1; n < 10; n++) {
        row(sender, n, n).longColumn("later" + n, n).atNow();
      }
      assertTrue(sender.drain(20_000));
      script.database.assertComplete("wide", 10);
      assertTrue(server.sizes.contains(18_000), server.sizes.toString());
    }
  }

  private static Recorder shrinking() {
    Recorder script = Recorder.accepting();
    script.upgrades = connection -> Upgrade.accept(CAP, connection == 0 ? "1000000" : "20000");
    return script;
  }

  /** Writes rows of several tables, some of them large, and has the server take less then. */
  private static void writeThenShrink(Sender sender, ScriptServer server) throws Exception {
    for (int n = 0; n < 10; n++) {
      for (String table : List.of("x", "y")) {
        boolean large = LARGE.contains(n);
        Row row = sender.table(table).longColumn(Database.NUMBER, n).symbol("s", table + n);
        row.stringColumn("text", "x".repeat(large ? 30_000 : 10)).atNow();
      }
    }
    shrink(sender, server);
  }

  private static void shrink(Sender sender, ScriptServer server) throws Exception {
    server.run(() -> List.copyOf(server.open).forEach(ScriptServer.Session::reset));
    assertTrueEventually(() -> sender.frameBytes() == 18_000, "what it said");
  }

  private static Sender open(ScriptServer server, Path directory, List<SenderError> told)
      throws Exception {
    String keys = KEYS + "sf_dir=" + directory + ";sf_min_free_bytes=0;";
    return Senders.builder(server.address(), keys).errorHandler(told::add).build();
  }

  private static List<Long> numbers(List<Integer> rows) {
    return rows.stream().map(Integer::longValue).toList();
  }

  /** They are kept, counted and told as rows that a server refuses; they hold nobody up. */
  @Test
  void rowsThatServersHaveComeToRefuseAreSetAside(@TempDir Path directory) throws Exception {
    List<SenderError> told = new CopyOnWriteArrayList<>();
    Recorder script = shrinking();
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = open(server, directory, told)) {
      writeThenShrink(sender, server);
      assertTrue(sender.drain(20_000));
      assertEquals(2 * LARGE.size(), sender.counters().rowsDropped());
      assertEquals(20 - 2 * LARGE.size(), sender.counters().rowsWritten());
      for (String table : List.of("x", "y")) {
        assertEquals(numbers(List.of(1, 2, 3, 6, 7, 8)), script.database.all(table));
      }
      assertTrueEventually(() -> told.size() == 2 * LARGE.size(), "all told");
      List<String> kept = new ArrayList<>();
      for (SenderError error : told) {
        assertEquals(Policy.DROP, error.policy());
        assertEquals(1, error.rows());
        assertTrue(error.message().startsWith("FRAME_TOO_LARGE"), error.describe());
        assertTrue(error.message().contains("column 'text' with 30"), error.describe());
        byte[] bytes = Files.readAllBytes(Path.of(error.deadLetter()));
        QwpMessage message =
            new MessageDecoder(new ConnectionSymbols()).decode(bytes, 0, bytes.length);
        DecodedTable table = message.tables().get(0);
        assertEquals(error.table(), table.name());
        assertEquals(30_000, table.columns().get(2).getText(0).length());
        assertEquals(1, table.rows());
        String symbol = table.columns().get(1).getText(0);
        assertEquals(table.name() + table.columns().get(0).getLong(0), symbol);
        kept.add(symbol);
      }
      assertEquals(
          List.of("x0", "x4", "x5", "x9", "y0", "y4", "y5", "y9"), kept.stream().sorted().toList());
      // Nothing of them is left in the way of later rows.
      sender.table("x").longColumn(Database.NUMBER, 10).atNow();
      assertTrue(sender.drain(20_000));
      assertEquals(2 * LARGE.size(), sender.counters().rowsDropped());
      assertTrue(script.database.all("x").contains(10L));
    }
  }

  /** Without a timestamp, or with a coarse one, rows that differ in nothing are still two. */
  @Test
  void equalRowsAreKeptEachByItself(@TempDir Path directory) throws Exception {
    List<SenderError> told = new CopyOnWriteArrayList<>();
    Recorder script = shrinking();
    try (ScriptServer server = new ScriptServer(script);
        Sender sender = open(server, directory, told)) {
      for (int n = 0; n < 3; n++) {
        row(sender, 7, 30_000).atNow();
      }
      shrink(sender, server);
      assertTrue(sender.drain(20_000));
      assertEquals(3, sender.counters().rowsDropped());
      assertTrueEventually(() -> told.size() == 3, "all told");
      assertEquals(3, told.stream().map(SenderError::deadLetter).distinct().count());
      for (SenderError error : told) {
        assertTrue(Files.exists(Path.of(error.deadLetter())), error.describe());
        assertTrue(error.fromFsn() > error.toFsn(), "about no frame: " + error.describe());
      }
    }
  }

  /** A host of two, which can be away, and says what it is told to say. */
  private static final class Host {
    private final Recorder script = Recorder.accepting();
    private final ScriptServer server;
    private volatile int cap;

    Host(int cap) throws Exception {
      this.cap = cap;
      script.upgrades =
          connection -> this.cap == 0 ? Upgrade.refuse(503) : Upgrade.accept(CAP, "" + this.cap);
      server = new ScriptServer(script);
    }

    /** Ends its connections; 0: and stays away. */
    void becomes(int newCap) throws Exception {
      cap = newCap;
      server.run(() -> List.copyOf(server.open).forEach(ScriptServer.Session::reset));
    }
  }

  private static void assertStays(Sender sender) {
    SfException thrown = assertThrows(SfException.class, sender::flush);
    assertEquals(ErrorCode.FRAME_TOO_LARGE, thrown.code());
    assertEquals(0, sender.counters().rowsDropped());
  }

  /** The host with the least sets the size of frames; what it takes says nothing of the others. */
  @Test
  void aRowIsSetAsideOnlyWhereAllHostsSaidThatTheyTakeLess(@TempDir Path directory)
      throws Exception {
    Host first = new Host(1_000_000);
    Host second = new Host(0);
    try (ScriptServer one = first.server;
        ScriptServer two = second.server;
        Sender sender =
            Senders.builder(
                    one.address() + "," + two.address(),
                    KEYS + "sf_dir=" + directory + ";sf_min_free_bytes=0;")
                .errorHandler(error -> {})
                .build()) {
      row(sender, 0, 30_000).atNow();
      first.becomes(20_000);
      assertTrueEventually(() -> sender.frameBytes() == 18_000, "what the first said");
      assertStays(sender);

      second.becomes(1_000_000);
      first.becomes(0);
      sender.awaitAcked(Senders.publish(sender, "small", 0, 1));
      assertEquals(List.of(0L), second.script.database.all("small"), "it was the second's turn");
      assertEquals(18_000, sender.frameBytes());
      assertStays(sender);

      second.becomes(19_000);
      assertTrueEventually(() -> sender.frameBytes() == 17_100, "what the second says now");
      assertTrue(sender.drain(20_000));
      assertEquals(1, sender.counters().rowsDropped());
    }
  }

  @Test
  void whatCannotBeKeptIsNotDropped() throws Exception {
    boolean[] full = {true};
    Recorder script = shrinking();
    try (ScriptServer server = new ScriptServer(script);
        Sender sender =
            Senders.builder(server.address(), KEYS)
                .errorHandler(error -> {})
                .deadLetters(
                    (slot, fsn, frame, error) -> {
                      if (full[0]) {
                        throw new IOException("no room");
                      }
                      return "somewhere";
                    })
                .build()) {
      writeThenShrink(sender, server);
      SfException thrown = assertThrows(SfException.class, sender::flush);
      assertEquals(ErrorCode.FRAME_TOO_LARGE, thrown.code());
      assertTrue(thrown.getMessage().contains("no room"), thrown.getMessage());
      assertEquals(0, sender.counters().rowsDropped());
      full[0] = false;
      assertTrue(sender.drain(20_000));
      assertEquals(2 * LARGE.size(), sender.counters().rowsDropped());
      assertEquals(20 - 2 * LARGE.size(), sender.counters().rowsWritten());
    }
  }

  private static boolean fits(Sender sender, int text) throws Exception {
    try {
      row(sender, 0, text).atNow();
      return true;
    } catch (SfException e) {
      assertEquals(ErrorCode.FRAME_TOO_LARGE, e.code());
      sender.cancelRow();
      return false;
    }
  }
}
