package io.deltaupkeep.parquet.page

import java.util.Arrays

import io.deltaupkeep.parquet.bytes.LittleEndian
import io.deltaupkeep.parquet.encoding.ValueShape

import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{ColumnOrder, LogicalTypeAnnotation, PrimitiveType}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName

/**
 * The minimum and maximum of a page, in the order of the column's type. Numbers and plain bytes are compared
 * in place. Other types, such as floats and decimals stored as bytes, use parquet-java's rules.
 */
private[parquet] abstract class PageStatistics(primitive: PrimitiveType) {

  protected var statistics: Statistics[_ <: Comparable[_]] = Statistics.createStats(primitive)

  /** Adds the PLAIN values of `source` from `from` until `to`. The array must not change until [[result]]. */
  def add(source: Array[Byte], from: Int, to: Int): Unit

  /** The statistics, which hold copies of their values. */
  def result(nulls: Long): Statistics[_ <: Comparable[_]] = {
    addBounds()
    statistics.incrementNumNulls(nulls)
    statistics
  }

  /** Adds bounds that were found in place. */
  protected def addBounds(): Unit = ()

  /** Starts the next page. */
  def clear(): Unit = statistics = Statistics.createStats(primitive)

  /** The earliest and latest INT96 timestamp of all pages, in microseconds since the epoch. The format has neither. */
  def instants: Option[(Long, Long)] = None
}

private[parquet] object PageStatistics {

  def apply(primitive: PrimitiveType): PageStatistics =
    (primitive.getPrimitiveTypeName, primitive.getLogicalTypeAnnotation) match {
      case (PrimitiveTypeName.INT96, _) => new InstantBounds(primitive)
      case _ if primitive.columnOrder.getColumnOrderName == ColumnOrder.ColumnOrderName.UNDEFINED =>
        new NoBounds(primitive)
      case (PrimitiveTypeName.INT32, annotation) =>
        new IntBounds(primitive, if (isUnsigned(annotation)) Int.MinValue else 0)
      case (PrimitiveTypeName.INT64, annotation) =>
        new LongBounds(primitive, if (isUnsigned(annotation)) Long.MinValue else 0L)
      case (PrimitiveTypeName.BINARY | PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY, null) =>
        new ByteBounds(primitive)
      case (_, _: LogicalTypeAnnotation.StringLogicalTypeAnnotation) => new ByteBounds(primitive)
      case _ => new RuleBounds(primitive)
    }

  private def isUnsigned(annotation: LogicalTypeAnnotation): Boolean = annotation match {
    case ints: LogicalTypeAnnotation.IntLogicalTypeAnnotation => !ints.isSigned
    case _ => false
  }
}

private final class NoBounds(primitive: PrimitiveType) extends PageStatistics(primitive) {
  override def add(source: Array[Byte], from: Int, to: Int): Unit = ()
}

/** @param flip the sign bit or 0: XOR with it makes the numbers compare as signed */
private final class IntBounds(primitive: PrimitiveType, flip: Int) extends PageStatistics(primitive) {
  private var min = Int.MaxValue
  private var max = Int.MinValue

  override def add(source: Array[Byte], from: Int, to: Int): Unit = {
    var least = min
    var greatest = max
    var at = from
    while (at < to) {
      val value = LittleEndian.getInt(source, at) ^ flip
      least = math.min(least, value)
      greatest = math.max(greatest, value)
      at += 4
    }
    min = least
    max = greatest
  }

  override protected def addBounds(): Unit = if (min <= max) {
    statistics.updateStats(min ^ flip)
    statistics.updateStats(max ^ flip)
  }

  override def clear(): Unit = {
    super.clear()
    min = Int.MaxValue
    max = Int.MinValue
  }
}

/** @param flip the sign bit or 0: XOR with it makes the numbers compare as signed */
private final class LongBounds(primitive: PrimitiveType, flip: Long) extends PageStatistics(primitive) {
  private var min = Long.MaxValue
  private var max = Long.MinValue

  override def add(source: Array[Byte], from: Int, to: Int): Unit = {
    var least = min
    var greatest = max
    var at = from
    while (at < to) {
      val value = LittleEndian.getLong(source, at) ^ flip
      least = math.min(least, value)
      greatest = math.max(greatest, value)
      at += 8
    }
    min = least
    max = greatest
  }

  override protected def addBounds(): Unit = if (min <= max) {
    statistics.updateStats(min ^ flip)
    statistics.updateStats(max ^ flip)
  }

  override def clear(): Unit = {
    super.clear()
    min = Long.MaxValue
    max = Long.MinValue
  }
}

/** INT96 timestamps: Julian days and nanoseconds. They have no bounds in the format. */
private final class InstantBounds(primitive: PrimitiveType) extends PageStatistics(primitive) {
  import InstantBounds._

  private var first = Long.MaxValue
  private var last = Long.MinValue

  override def add(source: Array[Byte], from: Int, to: Int): Unit = {
    var at = from
    while (at < to) {
      val day = LittleEndian.getInt(source, at + 8) - JulianDayOfEpoch
      val micros = day * MicrosPerDay + LittleEndian.getLong(source, at) / 1000
      first = math.min(first, micros)
      last = math.max(last, micros)
      at += 12
    }
  }

  override def instants: Option[(Long, Long)] = Option.when(first <= last)((first, last))
}

private object InstantBounds {
  private val JulianDayOfEpoch = 2440588
  private val MicrosPerDay = 86400000000L
}

/** Bytes in their own order, as of UTF-8. */
private final class ByteBounds(primitive: PrimitiveType) extends PageStatistics(primitive) {
  private val shape = ValueShape.of(primitive)
  private var any = false
  private val least = new Span
  private val greatest = new Span

  override def add(source: Array[Byte], from: Int, to: Int): Unit = {
    var at = from
    while (at < to) {
      val start = if (shape.isVariable) at + 4 else at
      val end = if (shape.isVariable) start + LittleEndian.getInt(source, at) else at + shape.width
      addOne(source, start, end)
      at = end
    }
  }

  private def addOne(source: Array[Byte], from: Int, to: Int): Unit = {
    val prefix = Span.prefixOf(source, from, to)
    if (!any) {
      least.set(source, from, to, prefix)
      greatest.set(source, from, to, prefix)
      any = true
    } else if (least.isAbove(source, from, to, prefix)) least.set(source, from, to, prefix)
    else if (greatest.isBelow(source, from, to, prefix)) greatest.set(source, from, to, prefix)
  }

  override protected def addBounds(): Unit = if (any) {
    statistics.updateStats(least.toBinary)
    statistics.updateStats(greatest.toBinary)
  }

  override def clear(): Unit = {
    super.clear()
    any = false
  }
}

/** Values that parquet-java compares: floats, booleans, decimals as bytes. */
private final class RuleBounds(primitive: PrimitiveType) extends PageStatistics(primitive) {
  private val shape = ValueShape.of(primitive)

  override def add(source: Array[Byte], from: Int, to: Int): Unit = primitive.getPrimitiveTypeName match {
    case PrimitiveTypeName.DOUBLE =>
      for (at <- from until to by 8)
        statistics.updateStats(java.lang.Double.longBitsToDouble(LittleEndian.getLong(source, at)))
    case PrimitiveTypeName.FLOAT =>
      for (at <- from until to by 4)
        statistics.updateStats(java.lang.Float.intBitsToFloat(LittleEndian.getInt(source, at)))
    case PrimitiveTypeName.BOOLEAN => for (at <- from until to) statistics.updateStats(source(at) != 0)
    case _ =>
      var at = from
      while (at < to) {
        val start = if (shape.isVariable) at + 4 else at
        val end = if (shape.isVariable) start + LittleEndian.getInt(source, at) else at + shape.width
        statistics.updateStats(Binary.fromReusedByteArray(source, start, end - start))
        at = end
      }
  }
}

/** A value by its position. The prefix decides almost all comparisons. */
private final class Span {
  private var source: Array[Byte] = Array.emptyByteArray
  private var from = 0
  private var to = 0
  private var prefix = 0L

  def set(source: Array[Byte], from: Int, to: Int, prefix: Long): Unit = {
    this.source = source
    this.from = from
    this.to = to
    this.prefix = prefix
  }

  def isAbove(other: Array[Byte], start: Int, end: Int, otherPrefix: Long): Boolean =
    if (prefix != otherPrefix) java.lang.Long.compareUnsigned(prefix, otherPrefix) > 0
    else Arrays.compareUnsigned(source, from, to, other, start, end) > 0

  def isBelow(other: Array[Byte], start: Int, end: Int, otherPrefix: Long): Boolean =
    if (prefix != otherPrefix) java.lang.Long.compareUnsigned(prefix, otherPrefix) < 0
    else Arrays.compareUnsigned(source, from, to, other, start, end) < 0

  def toBinary: Binary = Binary.fromReusedByteArray(source, from, to - from)
}

private object Span {

  /** The first eight bytes as a number that sorts as the bytes do; shorter values are padded with zeros. */
  def prefixOf(source: Array[Byte], from: Int, to: Int): Long =
    if (to - from >= 8) LittleEndian.getBigEndianLong(source, from)
    else {
      var prefix = 0L
      var i = 0
      while (i < 8) {
        prefix = (prefix << 8) | (if (from + i < to) source(from + i) & 0xffL else 0L)
        i += 1
      }
      prefix
    }
}
