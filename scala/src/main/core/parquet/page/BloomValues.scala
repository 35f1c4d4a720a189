package io.deltaupkeep.parquet.page

import io.deltaupkeep.parquet.bytes.LittleEndian
import io.deltaupkeep.parquet.encoding.{ValueDictionary, ValueShape}

import org.apache.parquet.column.values.bloomfilter.{BlockSplitBloomFilter, BloomFilter}
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.PrimitiveType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName

/**
 * Collects the hashes of a chunk's values, for a Bloom filter sized by their number (Parquet format, 'Bloom
 * Filter'). Takes eight bytes per distinct value until the filter reaches its largest size: about 13 MB for 1 MiB. Only
 * columns whose inputs have a filter get one.
 *
 * @param maxBytes       of the filter (parquet-java: `parquet.bloom.filter.max.bytes`)
 * @param falsePositives as a share of the values that are not in the chunk
 */
private[parquet] final class BloomValues(
    primitive: PrimitiveType,
    maxBytes: Int,
    falsePositives: Double = BlockSplitBloomFilter.DEFAULT_FPP
) {

  private val hasher = new BlockSplitBloomFilter(BlockSplitBloomFilter.LOWER_BOUND_BYTES)
  private val shape = ValueShape.of(primitive)
  private var hashes = new Array[Long](1 << 10)
  private var count = 0
  private var largest = Option.empty[BloomFilter]

  private def add(source: Array[Byte], from: Int, to: Int): Unit = {
    val hash = hashOf(source, from, to)
    if (count == hashes.length) makeRoom()
    if (largest.isEmpty) {
      hashes(count) = hash
      count += 1
    } else largest.get.insertHash(hash)
  }

  private def makeRoom(): Unit = {
    count = distinctHashes()
    if (bytesFor(count) >= maxBytes) {
      largest = Some(filter())
      count = 0
      hashes = new Array[Long](1)
    } else if (count > hashes.length / 2) hashes = java.util.Arrays.copyOf(hashes, 2 * hashes.length)
  }

  /** Adds PLAIN values of `length` bytes. */
  def addPlain(source: Array[Byte], length: Int): Unit = {
    var at = 0
    while (at < length) {
      val end = at + (if (shape.isVariable) 4 + LittleEndian.getInt(source, at) else shape.width)
      add(source, at, end)
      at = end
    }
  }

  def addAll(dictionary: ValueDictionary): Unit =
    (0 until dictionary.size).foreach(id =>
      add(dictionary.array, dictionary.start(id), dictionary.start(id + 1))
    )

  def result(): BloomFilter = largest.getOrElse {
    count = distinctHashes()
    filter()
  }

  /** Requires distinct hashes. */
  private def filter(): BloomFilter = {
    val filter = new BlockSplitBloomFilter(math.min(bytesFor(count), maxBytes), maxBytes)
    (0 until count).foreach(i => filter.insertHash(hashes(i)))
    filter
  }

  private def bytesFor(distinct: Int): Int =
    BlockSplitBloomFilter.optimalNumOfBits(math.max(1, distinct).toLong, falsePositives) / 8

  /** Moves the distinct hashes to the front and returns their number. */
  private def distinctHashes(): Int = {
    java.util.Arrays.sort(hashes, 0, count)
    var distinct = 0
    var i = 0
    while (i < count) {
      if (i == 0 || hashes(i) != hashes(i - 1)) {
        hashes(distinct) = hashes(i)
        distinct += 1
      }
      i += 1
    }
    distinct
  }

  private def hashOf(source: Array[Byte], from: Int, to: Int): Long = primitive.getPrimitiveTypeName match {
    case PrimitiveTypeName.INT32 => hasher.hash(LittleEndian.getInt(source, from))
    case PrimitiveTypeName.INT64 => hasher.hash(LittleEndian.getLong(source, from))
    case PrimitiveTypeName.FLOAT =>
      hasher.hash(java.lang.Float.intBitsToFloat(LittleEndian.getInt(source, from)))
    case PrimitiveTypeName.DOUBLE =>
      hasher.hash(java.lang.Double.longBitsToDouble(LittleEndian.getLong(source, from)))
    case _ =>
      val start = if (shape.isVariable) from + 4 else from
      hasher.hash(Binary.fromConstantByteArray(source, start, to - start))
  }
}
