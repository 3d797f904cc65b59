package org.questdbsf.qwp;

/**
 * Limits of the wire format (client spec and server, section on limits). A server may advertise a
 * smaller message size than {@link #MAX_MESSAGE_BYTES}.
 */
public final class QwpLimits {
  /** Bytes of a message, header included. */
  public static final int MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

  /** Table blocks of a message. */
  public static final int MAX_TABLES = 65_535;

  /** Rows of a table block that is read. */
  public static final int MAX_ROWS = 1_000_000;

  /**
   * Rows of a table block that is written. A server commits a block of {@link #MAX_ROWS} while it
   * reads it, and its acknowledgement does not name the table then, as if the rows were lost.
   */
  public static final int MAX_FRAME_ROWS = MAX_ROWS - 1;

  /** Columns of a table block. */
  public static final int MAX_COLUMNS = 2_048;

  /** UTF-8 bytes of a table's or column's name. */
  public static final int MAX_NAME_BYTES = 127;

  /** Entries of a symbol dictionary that is written: servers before 10.0 take no more. */
  public static final int MAX_SYMBOLS = 1_000_000;

  /** Entries of a symbol dictionary that is read: other clients write as much as servers take. */
  public static final int MAX_SYMBOLS_READ = 2_000_000;

  /** UTF-8 bytes of one symbol. */
  public static final int MAX_SYMBOL_BYTES = 1024 * 1024;

  /** Bytes of a whole dictionary in its encoded form. */
  public static final int MAX_DICTIONARY_BYTES = 256 * 1024 * 1024;

  /** Dimensions of an array value. */
  public static final int MAX_ARRAY_DIMENSIONS = 32;

  /** Elements of an array value. */
  public static final int MAX_ARRAY_ELEMENTS = 1 << 24;

  /** Bits of a geohash. */
  public static final int MAX_GEOHASH_BITS = 60;

  /** Digits behind the point of a decimal. */
  public static final int MAX_DECIMAL_SCALE = 76;

  /** The last designated TIMESTAMP: 9999-12-31T23:59:59.999999Z. */
  public static final long MAX_DESIGNATED_MICROS = 253_402_300_799_999_999L;

  /**
   * The last designated TIMESTAMP_NANOS: 2261-12-31T23:59:59.999999999Z. The end of 2262 is no
   * long, and a row in a partition without an end suspends its table or ends the server (9.3.4),
   * again at each of its starts.
   */
  public static final long MAX_DESIGNATED_NANOS = 9_214_646_399_999_999_999L;

  private QwpLimits() {}
}
