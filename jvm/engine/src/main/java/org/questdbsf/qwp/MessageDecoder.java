package org.questdbsf.qwp;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.questdbsf.qwp.MalformedMessageException.Reason;

/**
 * Messages to rows (client spec, sections on the wire format). Strict: every length is checked
 * against what is left before anything is allocated, bytes behind the last table are refused, text
 * must be UTF-8, and a refused message leaves the connection's dictionary as it was. Reads more
 * than {@link MessageEncoder} writes: Gorilla timestamps, deferred messages, nulls as sentinels,
 * the designated timestamp anywhere among the columns, and symbols with a dictionary of their own.
 *
 * <p>For one thread at a time. Decoded messages are independent of the array that was given.
 */
public final class MessageDecoder {
  private static final int KNOWN_FLAGS =
      MessageHeader.FLAG_DEFER_COMMIT
          | MessageHeader.FLAG_GORILLA
          | MessageHeader.FLAG_DELTA_SYMBOL_DICT;

  private final ConnectionSymbols symbols;
  private final int maxNameBytes;

  /** A decoder for one connection, names of {@link QwpLimits#MAX_NAME_BYTES}. */
  public MessageDecoder(ConnectionSymbols symbols) {
    this(symbols, QwpLimits.MAX_NAME_BYTES);
  }

  /** A decoder for one connection whose server takes names of so many bytes. */
  public MessageDecoder(ConnectionSymbols symbols, int maxNameBytes) {
    this.symbols = symbols;
    this.maxNameBytes = maxNameBytes;
  }

  /**
   * Decodes one message and adds its delta section to the connection's dictionary.
   *
   * @throws MalformedMessageException where the bytes are not a message, or, with {@link
   *     Reason#DICTIONARY_GAP}, where its delta section begins above the dictionary's size
   */
  public QwpMessage decode(byte[] b, int off, int len) throws MalformedMessageException {
    Cursor in = new Cursor(copy(b, off, len));
    int flags = readHeader(in);
    int tableCount = MessageHeader.tableCount(in.bytes(), 0);
    boolean delta = (flags & MessageHeader.FLAG_DELTA_SYMBOL_DICT) != 0;
    int deltaAt = in.at();
    SymbolDelta added = delta ? readDelta(in) : new SymbolDelta(0, List.of());
    if (added.start() > symbols.size()) {
      throw new MalformedMessageException(
          Reason.DICTIONARY_GAP,
          deltaAt,
          "the delta section begins at id "
              + added.start()
              + ", the dictionary has "
              + symbols.size());
    }
    ColumnDecoder columns =
        new ColumnDecoder(
            in,
            delta ? new SymbolView(symbols, added) : null,
            (flags & MessageHeader.FLAG_GORILLA) != 0);
    List<DecodedTable> tables = new ArrayList<>();
    for (int i = 0; i < tableCount; i++) {
      tables.add(readTable(in, columns));
    }
    if (in.left() > 0) {
      throw in.fault(in.at(), in.left() + " bytes behind the last table");
    }
    symbols.apply(added.start(), added.entries());
    return new QwpMessage(flags, added.start(), added.entries(), List.copyOf(tables));
  }

  /**
   * Decodes the header and the delta section alone: enough to rebuild a dictionary from the frames
   * of a slot. What comes behind is not looked at.
   *
   * @throws MalformedMessageException where these bytes are no message's
   */
  public static SymbolDelta decodeDelta(byte[] b, int off, int len)
      throws MalformedMessageException {
    Cursor in = new Cursor(copy(b, off, len));
    int flags = readHeader(in);
    return (flags & MessageHeader.FLAG_DELTA_SYMBOL_DICT) != 0
        ? readDelta(in)
        : new SymbolDelta(0, List.of());
  }

  private static byte[] copy(byte[] b, int off, int len) {
    Objects.checkFromIndexSize(off, len, b.length);
    return Arrays.copyOfRange(b, off, off + len);
  }

  private static int readHeader(Cursor in) throws MalformedMessageException {
    if (in.readInt("magic") != MessageHeader.MAGIC) {
      throw in.fault(0, "the message does not begin with QWP1");
    }
    int version = in.readByte("version");
    if (version != MessageHeader.VERSION) {
      throw in.fault(4, "version " + version + ", only 1 is known");
    }
    int flags = in.readByte("flags");
    if ((flags & ~KNOWN_FLAGS) != 0) {
      throw in.fault(5, "unknown flags in 0x" + Integer.toHexString(flags));
    }
    in.readShort("table count");
    long payload = in.readInt("payload length") & 0xFFFF_FFFFL;
    if (payload != in.left()) {
      throw in.fault(8, "payload length " + payload + ", but " + in.left() + " bytes follow");
    }
    return flags;
  }

  private static SymbolDelta readDelta(Cursor in) throws MalformedMessageException {
    int start = in.readVarint("delta start", 0, QwpLimits.MAX_SYMBOLS_READ);
    int countAt = in.at();
    int count = in.readVarint("delta count", 0, QwpLimits.MAX_SYMBOLS_READ - start);
    return new SymbolDelta(start, readStrings(in, countAt, count));
  }

  /** So many symbols, each of which takes a byte at least. */
  static List<String> readStrings(Cursor in, int countAt, int count)
      throws MalformedMessageException {
    if (count > in.left()) {
      throw in.fault(countAt, count + " symbols in " + in.left() + " bytes");
    }
    List<String> entries = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      entries.add(in.readString("symbol", 0, QwpLimits.MAX_SYMBOL_BYTES));
    }
    return Collections.unmodifiableList(entries);
  }

  private DecodedTable readTable(Cursor in, ColumnDecoder decoder)
      throws MalformedMessageException {
    String name = in.readString("table name", 1, maxNameBytes);
    int rows = in.readVarint("row count", 0, QwpLimits.MAX_ROWS);
    int countAt = in.at();
    int count = in.readVarint("column count", 0, QwpLimits.MAX_COLUMNS);
    if (count > in.left() / 2) {
      throw in.fault(countAt, count + " columns in " + in.left() + " bytes");
    }
    String[] names = new String[count];
    QwpType[] types = new QwpType[count];
    Set<String> folded = new HashSet<>();
    for (int i = 0; i < count; i++) {
      int at = in.at();
      names[i] = in.readString("column name", 0, maxNameBytes);
      if (!folded.add(Names.fold(names[i]))) {
        throw in.fault(at, "column '" + names[i] + "' twice in table '" + name + "'");
      }
      int typeAt = in.at();
      int code = in.readByte("column type");
      types[i] = QwpType.ofCode(code);
      if (types[i] == null) {
        throw in.fault(typeAt, "unknown column type 0x" + Integer.toHexString(code));
      }
      if (names[i].isEmpty()
          && types[i] != QwpType.TIMESTAMP
          && types[i] != QwpType.TIMESTAMP_NANOS) {
        throw in.fault(typeAt, "a designated timestamp of type " + types[i]);
      }
    }
    DecodedColumn[] columns = new DecodedColumn[count];
    for (int i = 0; i < count; i++) {
      columns[i] = decoder.decode(names[i], types[i], rows);
    }
    return new DecodedTable(name, rows, List.of(columns));
  }
}
