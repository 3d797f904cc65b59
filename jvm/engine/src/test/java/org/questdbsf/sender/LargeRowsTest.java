package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.sender.ScriptServer.Upgrade;

/** Rows of about the size of a frame. */
@Timeout(60)
class LargeRowsTest {
  private static final String CAP = "X-QWP-Max-Batch-Size";
  private static final String KEYS =
      "sf_max_segment_bytes=1m;frame_bytes=1m;sf_max_total_bytes=8m;auto_flush=off;"
          + "initial_connect_retry=on;";

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
