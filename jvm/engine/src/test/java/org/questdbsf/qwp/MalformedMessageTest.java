package org.questdbsf.qwp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.questdbsf.qwp.MalformedMessageException.Reason;

/** Cut, altered and hostile bytes: refused with an offset, or another valid message. */
class MalformedMessageTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static QwpMessage decode(byte[] bytes) throws MalformedMessageException {
    return new MessageDecoder(new ConnectionSymbols()).decode(bytes, 0, bytes.length);
  }

  /** Random messages of all types, and handmade ones for what our encoder does not write. */
  private static List<byte[]> messages(Random random) {
    List<byte[]> messages = new ArrayList<>();
    MessageEncoder encoder = new MessageEncoder();
    for (int i = 0; i < 60; i++) {
      SymbolDictionary dictionary = new SymbolDictionary();
      RandomTable table = new RandomTable("t", dictionary, random);
      table.fill(1 + random.nextInt(12));
      encoder.encode(List.of(table.block), dictionary, 0, dictionary.size());
      messages.add(Arrays.copyOf(encoder.array(), encoder.length()));
    }
    messages.add(
        message(
            0x0D, 1, "00 00 0167 05 01 00 0a 00 01 e803000000000000 d007000000000000 52 c4 06"));
    messages.add(message(0, 1, "0174 03 01 0173 09 00 02 0161 0162 00 01 00"));
    return messages;
  }

  private static byte[] message(int flags, int tables, String payload) {
    byte[] body = Hex.bytes(payload);
    byte[] message = new byte[MessageHeader.SIZE + body.length];
    LittleEndian.putInt(message, 0, MessageHeader.MAGIC);
    message[4] = 1;
    message[5] = (byte) flags;
    LittleEndian.putShort(message, 6, (short) tables);
    LittleEndian.putInt(message, 8, body.length);
    System.arraycopy(body, 0, message, MessageHeader.SIZE, body.length);
    return message;
  }

  @Test
  void everyTruncationIsRefused() {
    for (byte[] message : messages(new Random(1))) {
      for (int length = 0; length < message.length; length++) {
        byte[] cut = Arrays.copyOf(message, length);
        assertRefused(cut);
        if (length >= MessageHeader.SIZE) {
          // With a payload length that agrees, so that the cut is found where it is.
          LittleEndian.putInt(cut, 8, length - MessageHeader.SIZE);
          assertRefused(cut);
        }
      }
      byte[] longer = Arrays.copyOf(message, message.length + 1);
      LittleEndian.putInt(longer, 8, longer.length - MessageHeader.SIZE);
      assertRefused(longer);
    }
  }

  private static void assertRefused(byte[] bytes) {
    MalformedMessageException e =
        assertThrows(MalformedMessageException.class, () -> decode(bytes));
    assertTrue(e.offset() >= 0 && e.offset() <= bytes.length, e.getMessage());
    assertTrue(e.getMessage().startsWith("offset " + e.offset() + ": "), e.getMessage());
  }

  @Test
  void flipsGiveARefusalOrAnotherMessage() {
    Random random = new Random(2);
    int refused = 0;
    int accepted = 0;
    for (byte[] message : messages(random)) {
      for (int i = 0; i < 4 * message.length; i++) {
        byte[] altered = message.clone();
        int flips = 1 + random.nextInt(3);
        for (int f = 0; f < flips; f++) {
          altered[random.nextInt(altered.length)] ^= (byte) (1 << random.nextInt(8));
        }
        long before = THREADS.getCurrentThreadAllocatedBytes();
        try {
          QwpMessage decoded = decode(altered);
          long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
          assertTrue(allocated < 100_000 + 200L * altered.length, "allocated " + allocated);
          readAll(decoded);
          accepted++;
        } catch (MalformedMessageException e) {
          refused++;
        }
      }
    }
    assertTrue(refused > 1_000 && accepted > 1_000, refused + " refused, " + accepted);
  }

  private static void readAll(QwpMessage message) {
    for (DecodedTable table : message.tables()) {
      for (DecodedColumn column : table.columns()) {
        for (int row = 0; row < Math.min(1_000, table.rows()); row++) {
          Rendered.cell(column, row);
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      textBlock =
          """
          # flags; tables; payload; offset; what the message says
          8; 1; 00 00 00 01 00;                          14; table name length is 0
          8; 1; 00 00 8001 01 00;                        14; table name length is 128
          8; 1; 00 00 0174 c1843d 00;                    16; row count is 1000001
          8; 1; 00 00 0174 01 8110;                      17; column count is 2049
          8; 1; 00 00 0174 01 8010 00;                   17; 2048 columns in 1 bytes
          8; 1; 00 00 0174 01 01 0161 08 00;             20; unknown column type 0x8
          8; 1; 00 00 0174 01 01 0161 19 00;             20; unknown column type 0x19
          8; 1; 00 00 0174 01 01 00 05 00;               19; a designated timestamp of type LONG
          8; 1; 00 00 0174 01 02 0161 05 0141 05 00;     21; column 'A' twice
          8; 1; 00 00 0174 01 01 01ff 05 00;             19; column name is not UTF-8
          8; 0; 00 00 00;                                14; 1 bytes behind the last table
          8; 0; 808080808080808080 02 00;                12; varint of more than 64 bits
          8; 0; 00 05 00;                                13; 5 symbols in 1 bytes
          8; 0; 00 01 02 c3 28;                          15; symbol is not UTF-8
          8; 0; 00 01 ffffff03;                          14; symbol length is 8388607
          8; 1; 00 00 0174 c0843d 01 0161 05 00;         24; needs 8000000 bytes, 0 are left
          8; 1; 00 00 0174 c0843d 01 0161 0d 00;         24; needs 32000000 bytes
          8; 1; 00 00 0174 c0843d 01 0161 05 01 00;      24; the null bitmap of column 'a' needs
          8; 1; 00 00 0174 c0843d 01 0161 01 00;         24; needs 125000 bytes
          8; 1; 00 00 0174 c0843d 01 0161 09 00 00;      24; 1000000 symbol ids in 1 bytes
          8; 1; 00 01 0161 0174 01 01 0161 09 00 01;     24; a symbol id of column 'a' is 1
          8; 1; 00 00 0174 c0843d 01 0161 0f 00;         24; offsets of column 'a' needs 4000004
          8; 1; 00 00 0174 c0843d 01 0161 11 00 01;      24; 1000000 arrays in 1 bytes
          12; 1; 00 00 0174 c0843d 01 0161 0a 00 01 00;  25; 1000000 Gorilla timestamps need
          12; 1; 00 00 0174 01 01 0161 0a 00 02 00;      22; unknown encoding 2
          8; 1; 00 00 0174 01 01 0161 0f 00 01000000 01000000 61; 22; offset 1 after 0
          8; 1; 00 00 0174 01 01 0161 0f 00 00000000 ffffffff 61; 26; offset 4294967295 after 0
          8; 1; 00 00 0174 01 01 0161 0f 00 00000000 01000000 c3; 30; is not UTF-8
          8; 1; 00 00 0174 02 01 0161 0f 00 00000000 01000000 02000000 c3a9; 26; inside a character
          8; 1; 00 00 0174 01 01 0161 0e 00 00 00;       22; the precision of column 'a' is 0
          8; 1; 00 00 0174 01 01 0161 0e 00 3d 00;       22; the precision of column 'a' is 61
          8; 1; 00 00 0174 01 01 0161 0e 00 05 20;       23; geohash of more than 5 bits
          8; 1; 00 00 0174 01 01 0161 0e 01 00 05 ff;    24; geohash of more than 5 bits
          8; 1; 00 00 0174 01 01 0161 13 00 4d;          22; scale 77
          8; 1; 00 00 0174 01 01 0161 11 00 00 00000000; 22; an array of 0 dimensions
          8; 1; 00 00 0174 01 01 0161 11 00 21 00000000; 22; an array of 33 dimensions
          8; 1; 00 00 0174 01 01 0161 11 00 01 ffffffff; 23; dimension of length 4294967295
          8; 1; 00 00 0174 01 01 0161 11 00 01 01000001; 22; an array of 16777217 elements
          8; 1; 00 00 0174 01 01 0161 12 00 02 ffffff7f ffffff7f; 22; 2147483647 elements or more
          8; 1; 00 00 0174 01 01 0161 12 00 01 02000000 00; 27; needs 16 bytes, 1 are left
          2; 0; '';                                      5; unknown flags in 0x2
          16; 0; '';                                     5; unknown flags in 0x10
          """)
  void namesTheOffset(int flags, int tables, String payload, int offset, String fault) {
    byte[] message = message(flags, tables, payload);
    long before = THREADS.getCurrentThreadAllocatedBytes();
    MalformedMessageException e =
        assertThrows(MalformedMessageException.class, () -> decode(message));
    long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
    assertTrue(e.getMessage().contains(fault), e.getMessage());
    assertEquals(offset, e.offset(), e.getMessage());
    assertEquals(Reason.PARSE, e.reason());
    assertTrue(allocated < 2_000_000, "allocated " + allocated);
  }

  @Test
  void headers() {
    byte[] good = message(8, 0, "00 00");
    for (int at : new int[] {0, 1, 2, 3, 4, 8, 9, 10, 11}) {
      byte[] bad = good.clone();
      bad[at] ^= 0x40;
      MalformedMessageException e =
          assertThrows(MalformedMessageException.class, () -> decode(bad));
      assertEquals(at < 4 ? 0 : at < 8 ? 4 : 8, e.offset());
      assertEquals(at >= 8, MessageHeader.isQwp(bad, 0, bad.length));
    }
    assertTrue(MessageHeader.isQwp(good, 0, good.length));
    assertEquals(2, MessageHeader.payloadLength(good, 0));
  }

  @Test
  void aGapIsToldApartAndARefusedMessageChangesNothing() throws Exception {
    ConnectionSymbols symbols = new ConnectionSymbols();
    MessageDecoder decoder = new MessageDecoder(symbols);
    byte[] first = message(8, 0, "00 02 0161 0162");
    decoder.decode(first, 0, first.length);
    byte[] gap = message(8, 0, "03 01 0163");
    MalformedMessageException e =
        assertThrows(MalformedMessageException.class, () -> decoder.decode(gap, 0, gap.length));
    assertEquals(Reason.DICTIONARY_GAP, e.reason());
    assertEquals(12, e.offset());

    byte[] trailing = message(8, 0, "00 03 0178 0179 017a ff");
    assertThrows(
        MalformedMessageException.class, () -> decoder.decode(trailing, 0, trailing.length));
    assertEquals(2, symbols.size());
    assertEquals("a", symbols.text(0));

    // Below its size a delta gives ids another text, as servers allow.
    byte[] again = message(8, 1, "01 02 0142 0163 0174 03 01 0173 09 00 00 01 02");
    QwpMessage message = decoder.decode(again, 0, again.length);
    DecodedColumn column = message.tables().get(0).columns().get(0);
    assertEquals(
        List.of("a", "B", "c"), List.of(column.getText(0), column.getText(1), column.getText(2)));
    assertEquals(3, symbols.size());
  }

  @Test
  void nullsAsSentinels() throws Exception {
    String min = "00000000 00000080".replace(" ", "");
    assertNullWithoutBitmap("04", "00000080");
    assertNullWithoutBitmap("05", min);
    assertNullWithoutBitmap("06", "0000c07f");
    assertNullWithoutBitmap("07", "000000000000f87f");
    assertNullWithoutBitmap("0a", min);
    assertNullWithoutBitmap("0b", min);
    assertNullWithoutBitmap("10", min);
    assertNullWithoutBitmap("0c", min.repeat(2));
    assertNullWithoutBitmap("0d", min.repeat(4));
    assertNullWithoutBitmap("0e", "05 ff");
    assertNullWithoutBitmap("0e", "14 ffffff");
    assertNullWithoutBitmap("18", "00000000");
  }

  private static void assertNullWithoutBitmap(String type, String body) throws Exception {
    byte[] message = message(8, 1, "00 00 0174 01 01 0161" + type + "00" + body);
    assertTrue(decode(message).tables().get(0).columns().get(0).isNull(0), type);
  }

  @Test
  void gettersRefuseNullsAndOtherTypes() throws Exception {
    byte[] message = message(8, 1, "00 00 0174 02 01 0161 05 01 01 0700000000000000");
    DecodedColumn column = decode(message).tables().get(0).columns().get(0);
    assertEquals(7, column.getLong(1));
    assertThrows(IllegalStateException.class, () -> column.getLong(0));
    assertThrows(IllegalStateException.class, () -> column.getText(1));
    assertThrows(IllegalStateException.class, () -> column.getShape(1));
    assertThrows(IllegalStateException.class, column::scale);
    assertThrows(IndexOutOfBoundsException.class, () -> column.getLong(2));
    assertThrows(IndexOutOfBoundsException.class, () -> column.isNull(-1));
  }

  @Test
  void symbolsWithADictionaryOfTheirOwn() throws Exception {
    byte[] message = message(0, 1, "0174 03 01 0173 09 00 02 0161 0162 01 00 01");
    DecodedColumn column = decode(message).tables().get(0).columns().get(0);
    assertEquals("b", column.getText(0));
    assertEquals("a", column.getText(1));
  }
}
