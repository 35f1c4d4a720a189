package io.deltaupkeep.parquet.bytes;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Numbers in a byte array, at any position, in the byte order of Parquet.
 *
 * <p>In Java, because Scala boxes what a VarHandle returns, once for every value of a table.
 */
public final class LittleEndian {
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle BIG_LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private LittleEndian() {}

  public static int getInt(byte[] bytes, int at) {
    return (int) INTS.get(bytes, at);
  }

  public static long getLong(byte[] bytes, int at) {
    return (long) LONGS.get(bytes, at);
  }

  public static void putInt(byte[] bytes, int at, int value) {
    INTS.set(bytes, at, value);
  }

  public static void putLong(byte[] bytes, int at, long value) {
    LONGS.set(bytes, at, value);
  }

  /** Eight bytes, most significant first: compared unsigned, these numbers sort as the bytes do. */
  public static long getBigEndianLong(byte[] bytes, int at) {
    return (long) BIG_LONGS.get(bytes, at);
  }
}
