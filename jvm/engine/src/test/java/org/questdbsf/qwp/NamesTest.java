package org.questdbsf.qwp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.questdbsf.error.ErrorCode;
import org.questdbsf.error.SfException;

/** Names, against what QuestDB 9.3.4's own check answered for each character in each place. */
class NamesTest {
  private static final String CONTROLS = "\0\1\2\3\4\5\6\7\b\t\n\u000b\f\r\u000e\u000f";
  private static final String IN_TABLES = CONTROLS + "\"%'()*+,/:?\\~\u007f\ufeff";
  private static final String IN_COLUMNS = IN_TABLES + "-.";

  private final SymbolDictionary dictionary = new SymbolDictionary();

  private boolean table(String name, int maxBytes) {
    return accepted(() -> new TableBlock(name, dictionary, maxBytes));
  }

  private boolean column(String name, int maxBytes) {
    return accepted(() -> new TableBlock("t", dictionary, maxBytes).column(name, QwpType.LONG));
  }

  private static boolean accepted(Runnable call) {
    try {
      call.run();
      return true;
    } catch (SfException e) {
      assertEquals(ErrorCode.NAME_INVALID, e.code());
      return false;
    }
  }

  @Test
  void eachCharacterInEachPlace() {
    for (char c = 0; c < 0xFFFF; c++) {
      boolean text = !Character.isSurrogate(c);
      boolean inTable = text && IN_TABLES.indexOf(c) < 0;
      boolean atEnds = inTable && c != ' ' && c != '.';
      boolean inColumn = text && IN_COLUMNS.indexOf(c) < 0;
      String code = "U+" + Integer.toHexString(c);
      assertEquals(inTable, table("a" + c + "b", 127), code);
      assertEquals(atEnds, table(c + "b", 127), code);
      assertEquals(atEnds, table("a" + c, 127), code);
      assertEquals(inColumn, column("a" + c + "b", 127), code);
      assertEquals(inColumn, column(c + "b", 127), code);
      assertEquals(inColumn, column("a" + c, 127), code);
    }
  }

  @Test
  void lengthsInBytes() {
    assertTrue(table("x".repeat(127), 127) && column("x".repeat(127), 127));
    assertTrue(!table("x".repeat(128), 127) && !column("x".repeat(128), 127));
    assertTrue(column("é".repeat(63), 127) && !column("é".repeat(64), 127));
    assertTrue(table("😀", 4) && !table("😀", 3));
    assertTrue(column("x".repeat(255), 255));
  }

  @Test
  void otherRefusals() {
    assertTrue(!table("", 127) && !column("", 127));
    assertTrue(!table("a..b", 127) && table("a.b", 127));
    assertTrue(table("a b", 127) && column(" a ", 127));
  }

  @Test
  void theMessageNamesTableColumnAndCharacter() {
    SfException e =
        assertThrows(
            SfException.class,
            () -> new TableBlock("trades", dictionary, 127).column("a?b", QwpType.LONG));
    assertEquals(
        "NAME_INVALID: table 'trades': column name 'a?b' has the character U+003F, which QuestDB"
            + " refuses; rename it",
        e.getMessage());
  }
}
