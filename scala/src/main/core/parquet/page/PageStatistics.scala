package io.deltaupkeep.parquet.page

import java.util.Arrays

import io.deltaupkeep.parquet.bytes.LittleEndian

import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{ColumnOrder, LogicalTypeAnnotation, PrimitiveType}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName

/**
 * The minimum and maximum of a page, in the order of the column's type. Numbers and plain bytes are compared
 * in place. Other types, such as floats and decimals stored as bytes, use parquet-java's rules.
 */
private[parquet] final class PageStatistics(primitive: PrimitiveType) {
  import PageStatistics._

  private val order = orderOf(primitive)
  private val shape = ValueShape.of(primitive)
  private var statistics: Statistics[_ <: Comparable[_]] = Statistics.createStats(primitive)
  private var any = false
  private var min = 0L
  private var max = 0L
  private val least = new Span
  private val greatest = new Span
  private var firstInstant = Long.MaxValue
  private var lastInstant = Long.MinValue

  /** The earliest and latest INT96 timestamp of all pages, in microseconds since the epoch. The format has neither. */
  def instants: Option[(Long, Long)] = Option.when(firstInstant <= lastInstant)((firstInstant, lastInstant))

  /** Starts the next page. */
  def clear(): Unit = {
    statistics = Statistics.createStats(primitive)
    any = false
  }

  /**
   * Adds the PLAIN values of `source` from `from` until `to`. The array must not change until [[result]].
   */
  def add(source: Array[Byte], from: Int, to: Int): Unit = order match {
    case NoOrder => ()
    case Instants => addInstants(source, from, to)
    case SignedInts | UnsignedInts => addInts(source, from, to, if (order == SignedInts) 0 else Int.MinValue)
    case SignedLongs | UnsignedLongs =>
      addLongs(source, from, to, if (order == SignedLongs) 0L else Long.MinValue)
    case Doubles =>
      for (at <- from until to by 8)
        statistics.updateStats(java.lang.Double.longBitsToDouble(LittleEndian.getLong(source, at)))
    case Floats =>
      for (at <- from until to by 4)
        statistics.updateStats(java.lang.Float.intBitsToFloat(LittleEndian.getInt(source, at)))
    case Booleans => for (at <- from until to) statistics.updateStats(source(at) != 0)
    case Bytes =>
      var at = from
      while (at < to) {
        val start = if (shape.isVariable) at + 4 else at
        val end = if (shape.isVariable) start + LittleEndian.getInt(source, at) else at + shape.width
        addBytes(source, start, end)
        at = end
      }
    case Others =>
      var at = from
      while (at < to) {
        val start = if (shape.isVariable) at + 4 else at
        val end = if (shape.isVariable) start + LittleEndian.getInt(source, at) else at + shape.width
        statistics.updateStats(Binary.fromReusedByteArray(source, start, end - start))
        at = end
      }
  }

  /** The statistics, which hold copies of their values. */
  def result(nulls: Long): Statistics[_ <: Comparable[_]] = {
    if (any) order match {
      case SignedInts | UnsignedInts =>
        statistics.updateStats(min.toInt)
        statistics.updateStats(max.toInt)
      case SignedLongs | UnsignedLongs =>
        statistics.updateStats(min)
        statistics.updateStats(max)
      case _ =>
        statistics.updateStats(least.toBinary)
        statistics.updateStats(greatest.toBinary)
    }
    statistics.incrementNumNulls(nulls)
    statistics
  }

  /** XOR with `flip`, the sign bit or 0, makes the numbers compare as signed. */
  private def addInts(source: Array[Byte], from: Int, to: Int, flip: Int): Unit = if (from < to) {
    var least = if (any) min.toInt ^ flip else Int.MaxValue
    var greatest = if (any) max.toInt ^ flip else Int.MinValue
    var at = from
    while (at < to) {
      val value = LittleEndian.getInt(source, at) ^ flip
      least = math.min(least, value)
      greatest = math.max(greatest, value)
      at += 4
    }
    any = true
    min = (least ^ flip).toLong
    max = (greatest ^ flip).toLong
  }

  private def addLongs(source: Array[Byte], from: Int, to: Int, flip: Long): Unit = if (from < to) {
    var least = if (any) min ^ flip else Long.MaxValue
    var greatest = if (any) max ^ flip else Long.MinValue
    var at = from
    while (at < to) {
      val value = LittleEndian.getLong(source, at) ^ flip
      least = math.min(least, value)
      greatest = math.max(greatest, value)
      at += 8
    }
    any = true
    min = least ^ flip
    max = greatest ^ flip
  }

  private def addInstants(source: Array[Byte], from: Int, to: Int): Unit = {
    var at = from
    while (at < to) {
      val day = LittleEndian.getInt(source, at + 8) - JulianDayOfEpoch
      val micros = day * MicrosPerDay + LittleEndian.getLong(source, at) / 1000
      firstInstant = math.min(firstInstant, micros)
      lastInstant = math.max(lastInstant, micros)
      at += 12
    }
  }

  private def addBytes(source: Array[Byte], from: Int, to: Int): Unit = {
    val prefix = prefixOf(source, from, to)
    if (!any) {
      least.set(source, from, to, prefix)
      greatest.set(source, from, to, prefix)
      any = true
    } else if (least.isAbove(source, from, to, prefix)) least.set(source, from, to, prefix)
    else if (greatest.isBelow(source, from, to, prefix)) greatest.set(source, from, to, prefix)
  }
}

private object PageStatistics {

  // Ints, because they are matched for every value.
  private final val NoOrder = 0
  private final val SignedInts = 1
  private final val UnsignedInts = 2
  private final val SignedLongs = 3
  private final val UnsignedLongs = 4
  private final val Bytes = 5
  private final val Doubles = 6
  private final val Floats = 7
  private final val Booleans = 8
  private final val Others = 9
  private final val Instants = 10

  private val JulianDayOfEpoch = 2440588
  private val MicrosPerDay = 86400000000L

  private def orderOf(primitive: PrimitiveType): Int =
    if (primitive.getPrimitiveTypeName == PrimitiveTypeName.INT96) Instants
    else if (primitive.columnOrder.getColumnOrderName == ColumnOrder.ColumnOrderName.UNDEFINED) NoOrder
    else
      (primitive.getPrimitiveTypeName, primitive.getLogicalTypeAnnotation) match {
        case (PrimitiveTypeName.INT32, annotation) => if (isUnsigned(annotation)) UnsignedInts else SignedInts
        case (PrimitiveTypeName.INT64, annotation) => if (isUnsigned(annotation)) UnsignedLongs
          else SignedLongs
        case (PrimitiveTypeName.DOUBLE, _) => Doubles
        case (PrimitiveTypeName.FLOAT, _) => Floats
        case (PrimitiveTypeName.BOOLEAN, _) => Booleans
        case (PrimitiveTypeName.BINARY | PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY, null) => Bytes
        case (_, _: LogicalTypeAnnotation.StringLogicalTypeAnnotation) => Bytes
        case _ => Others
      }

  private def isUnsigned(annotation: LogicalTypeAnnotation): Boolean = annotation match {
    case ints: LogicalTypeAnnotation.IntLogicalTypeAnnotation => !ints.isSigned
    case _ => false
  }

  /** The first eight bytes as a number that sorts as the bytes do; shorter values are padded with zeros. */
  private def prefixOf(source: Array[Byte], from: Int, to: Int): Long =
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
}
