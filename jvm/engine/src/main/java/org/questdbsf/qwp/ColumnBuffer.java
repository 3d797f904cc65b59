package org.questdbsf.qwp;

import java.math.BigDecimal;
import java.nio.ByteBuffer;

/** One column. */
public final class ColumnBuffer {
  ColumnBuffer() {}

  public String name() {
    throw new UnsupportedOperationException("in preparation");
  }

  public QwpType type() {
    throw new UnsupportedOperationException("in preparation");
  }

  public void putBoolean(boolean value) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void putLong(long value) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void putFloat(float value) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void putDouble(double value) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void putText(CharSequence text) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void putUtf8(byte[] utf8, int off, int len) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void putUtf8(ByteBuffer utf8) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void putBytes(byte[] bytes, int off, int len) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void putUuid(long hi, long lo) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void putLong256(long l0, long l1, long l2, long l3) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void putGeohash(long bits, int precisionBits) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void putDecimal(BigDecimal value) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void putDecimal(long unscaled, int scale) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void putDoubleArray(double[] flat, int[] shape) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void putLongArray(long[] flat, int[] shape) {
    throw new UnsupportedOperationException("in preparation");
  }

  public void putNull() {
    throw new UnsupportedOperationException("in preparation");
  }
}
