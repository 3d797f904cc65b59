package org.questdbsf.qwp;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Fixed-width numbers in byte arrays, in the order of the wire; positions need no alignment. */
final class LittleEndian {
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private LittleEndian() {}

  static short getShort(byte[] b, int at) {
    return (short) SHORT.get(b, at);
  }

  static int getInt(byte[] b, int at) {
    return (int) INT.get(b, at);
  }

  static long getLong(byte[] b, int at) {
    return (long) LONG.get(b, at);
  }

  static void putShort(byte[] b, int at, short value) {
    SHORT.set(b, at, value);
  }

  static void putInt(byte[] b, int at, int value) {
    INT.set(b, at, value);
  }

  static void putLong(byte[] b, int at, long value) {
    LONG.set(b, at, value);
  }
}
