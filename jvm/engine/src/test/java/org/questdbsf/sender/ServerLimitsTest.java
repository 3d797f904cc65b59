package org.questdbsf.sender;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;
import org.questdbsf.qwp.ColumnBuffer;
import org.questdbsf.qwp.QwpLimits;
import org.questdbsf.qwp.QwpMessage;
import org.questdbsf.qwp.QwpType;
import org.questdbsf.qwp.SymbolDictionary;
import org.questdbsf.qwp.TableBlock;
import org.questdbsf.sender.ScriptServer.Session;
import org.questdbsf.sender.ScriptServer.Upgrade;

/** Frames stay within what every server takes and acknowledges by name. */
@Timeout(60)
class ServerLimitsTest {
  @ParameterizedTest
  @CsvSource({"frame_rows, 999999", "max_symbols_per_slot, 900000"})
  void keysEndWhereServersDo(String key, int most) {
    ConnectKey known = ConnectKey.named(key).orElseThrow();
    assertEquals(most, known.type().parse(key, Integer.toString(most)));
    SfException e =
        assertThrows(SfException.class, () -> known.type().parse(key, Integer.toString(most + 1)));
    assertTrue(e.getMessage().contains("to " + most), e.getMessage());
  }

  /** A server's acknowledgement of a frame with a million rows of a table does not name it. */
  @Test
  void aMillionRowsAreTwoFrames() throws Exception {
    List<Integer> rows = new CopyOnWriteArrayList<>();
    ScriptServer.Script script =
        new ScriptServer.Script() {
          @Override
          public Upgrade upgrade(int connection) {
            return Upgrade.accept("X-QWP-Max-Batch-Size", "2000000");
          }

          @Override
          public void message(Session session, long sequence, QwpMessage message) {
            rows.add(message.tables().get(0).rows());
            session.ok(sequence);
          }
        };
    try (ScriptServer server = new ScriptServer(script);
        Sender sender =
            Senders.open(server, "frame_rows=999999;frame_bytes=1m;sf_max_segment_bytes=2m;")) {
      Senders.publish(sender, "first", 0, 1);
      assertTrue(sender.drain(30_000), "the server has said how large a frame may be");
      TableBlock block = sender.newBlock("t");
      ColumnBuffer column = block.column("b", QwpType.BOOLEAN);
      for (int i = 0; i < 1_000_000; i++) {
        column.putBoolean(true);
        block.endRow();
      }
      sender.publish(block);
      assertTrue(sender.drain(30_000));
    }
    assertEquals(List.of(1, 999_999, 1), rows);
  }

  @Test
  void aDictionaryTakesNoMoreThanServersDo() {
    SymbolDictionary dictionary = new SymbolDictionary();
    for (int i = 0; i < 1_000_000; i++) {
      dictionary.idOf("s" + i);
    }
    SfException e = assertThrows(SfException.class, () -> dictionary.idOf("one more"));
    assertEquals(ErrorCode.SYMBOLS_EXHAUSTED, e.code());
    assertTrue(e.getMessage().contains("1000000 texts"), e.getMessage());
    assertEquals(7, dictionary.idOf("s7"));
  }

  /** Another client's slot may have more: its frames are sent, and new ones begin anew. */
  @Test
  void aLargerRecoveredDictionaryIsNotCarriedOn() {
    RecoveredSymbols recovered = new RecoveredSymbols();
    for (int i = 0; i <= QwpLimits.MAX_SYMBOLS; i++) {
      byte[] text = ("s" + i).getBytes(StandardCharsets.UTF_8);
      recovered.symbol(i, text, 0, text.length);
    }
    SymbolDictionary dictionary = new SymbolDictionary();
    assertFalse(recovered.into(dictionary));
    assertEquals(0, dictionary.size());
  }
}
