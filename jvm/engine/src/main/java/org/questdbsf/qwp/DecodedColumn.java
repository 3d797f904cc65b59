package org.questdbsf.qwp;

import java.math.BigDecimal;

/** Values of one column. Getters throw IllegalStateException for a null row or another type. */
public final class DecodedColumn {
  public String name() {
    throw new UnsupportedOperationException("in preparation");
  }

  public QwpType type() {
    throw new UnsupportedOperationException("in preparation");
  }

  public int rows() {
    throw new UnsupportedOperationException("in preparation");
  }

  /** Whether the row is null: by bitmap, or by sentinel where there is no bitmap. */
  public boolean isNull(int row) {
    throw new UnsupportedOperationException("in preparation");
  }

  public boolean getBoolean(int row) {
    throw new UnsupportedOperationException("in preparation");
  }

  /** BYTE SHORT INT LONG TIMESTAMP* DATE CHAR IPV4 (both unsigned). */
  public long getLong(int row) {
    throw new UnsupportedOperationException("in preparation");
  }

  public float getFloat(int row) {
    throw new UnsupportedOperationException("in preparation");
  }

  /** DOUBLE and FLOAT. */
  public double getDouble(int row) {
    throw new UnsupportedOperationException("in preparation");
  }

  /** VARCHAR and SYMBOL. */
  public String getText(int row) {
    throw new UnsupportedOperationException("in preparation");
  }

  /** VARCHAR (its UTF-8) and BINARY. */
  public byte[] getBytes(int row) {
    throw new UnsupportedOperationException("in preparation");
  }

  public long getUuidHi(int row) {
    throw new UnsupportedOperationException("in preparation");
  }

  public long getUuidLo(int row) {
    throw new UnsupportedOperationException("in preparation");
  }

  /** One of the four limbs of a LONG256, 0 the least significant. */
  public long getLong256(int row, int limb) {
    throw new UnsupportedOperationException("in preparation");
  }

  public long getGeohash(int row) {
    throw new UnsupportedOperationException("in preparation");
  }

  /** Bits of a GEOHASH column. */
  public int precision() {
    throw new UnsupportedOperationException("in preparation");
  }

  public BigDecimal getDecimal(int row) {
    throw new UnsupportedOperationException("in preparation");
  }

  /** Scale of a DECIMAL column. */
  public int scale() {
    throw new UnsupportedOperationException("in preparation");
  }

  public int[] getShape(int row) {
    throw new UnsupportedOperationException("in preparation");
  }

  public double[] getDoubleArray(int row) {
    throw new UnsupportedOperationException("in preparation");
  }

  public long[] getLongArray(int row) {
    throw new UnsupportedOperationException("in preparation");
  }
}
