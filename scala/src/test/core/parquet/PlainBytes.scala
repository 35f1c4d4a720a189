package io.deltaupkeep.parquet

import java.nio.{ByteBuffer, ByteOrder}

/** Values as PLAIN pages hold them (format spec, 'Encodings'), by Java's own buffers. */
private[parquet] object PlainBytes {

  def plain(value: Int): Array[Byte] = of(4).putInt(value).array()
  def plain(value: Long): Array[Byte] = of(8).putLong(value).array()

  def intOf(bytes: Array[Byte]): Int = read(bytes).getInt
  def longOf(bytes: Array[Byte]): Long = read(bytes).getLong

  private def of(length: Int): ByteBuffer = read(new Array[Byte](length))
  private def read(bytes: Array[Byte]): ByteBuffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN)
}
