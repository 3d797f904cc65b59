package org.questdbsf.qwp;

/** Column types of the wire format and their codes (client spec, section on column data). */
public enum QwpType {
  BOOLEAN(0x01, 0),
  BYTE(0x02, 1),
  SHORT(0x03, 2),
  INT(0x04, 4),
  LONG(0x05, 8),
  FLOAT(0x06, 4),
  DOUBLE(0x07, 8),
  SYMBOL(0x09, 0),
  TIMESTAMP(0x0A, 8),
  DATE(0x0B, 8),
  UUID(0x0C, 16),
  LONG256(0x0D, 32),
  GEOHASH(0x0E, 0),
  VARCHAR(0x0F, 0),
  TIMESTAMP_NANOS(0x10, 8),
  DOUBLE_ARRAY(0x11, 0),
  LONG_ARRAY(0x12, 0),
  DECIMAL64(0x13, 8),
  DECIMAL128(0x14, 16),
  DECIMAL256(0x15, 32),
  CHAR(0x16, 2),
  BINARY(0x17, 0),
  IPV4(0x18, 4);

  private static final QwpType[] BY_CODE = new QwpType[0x19];

  static {
    for (QwpType type : values()) {
      BY_CODE[type.code] = type;
    }
  }

  private final int code;
  private final int width;

  QwpType(int code, int width) {
    this.code = code;
    this.width = width;
  }

  /** The type byte on the wire. */
  public int code() {
    return code;
  }

  /** Bytes a value takes, or 0 where that depends on the value or the column. */
  public int width() {
    return width;
  }

  /** The type of a wire code, or null where there is none. */
  public static QwpType ofCode(int code) {
    return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
  }
}
