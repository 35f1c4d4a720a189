package io.deltaupkeep.parquet

import java.util.Arrays

import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{ColumnOrder, LogicalTypeAnnotation, PrimitiveType}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName

/**
 * Least and greatest value of one page, in the order that the column's type has. Numbers and plain bytes are
 * compared in place; what is left, such as decimals in bytes and floats, by parquet-java's own rules.
 */
private[parquet] final class PageStatistics(primitive: PrimitiveType) {
  import PageStatistics._

  private val order = orderOf(primitive)
  private val variable = ValueShape.of(primitive).isVariable
  private var statistics: Statistics[_ <: Comparable[_]] = Statistics.createStats(primitive)
  private var any = false
  private var min = 0L
  private var max = 0L
  private val least = new Span
  private val greatest = new Span

  def clear(): Unit = {
    statistics = Statistics.createStats(primitive)
    any = false
  }

  /** Takes in the value whose encoded form is at `from until to`; the array must stay until [[result]]. */
  def add(source: Array[Byte], from: Int, to: Int): Unit = order match {
    case NoOrder => ()
    case SignedInts => addNumber(LittleEndian.getInt(source, from).toLong)
    case UnsignedInts => addNumber(LittleEndian.getInt(source, from).toLong & 0xffffffffL)
    case SignedLongs => addNumber(LittleEndian.getLong(source, from))
    case UnsignedLongs => addNumber(LittleEndian.getLong(source, from) ^ Long.MinValue)
    case Bytes => addBytes(source, if (variable) from + 4 else from, to)
    case Doubles =>
      statistics.updateStats(java.lang.Double.longBitsToDouble(LittleEndian.getLong(source, from)))
    case Floats => statistics.updateStats(java.lang.Float.intBitsToFloat(LittleEndian.getInt(source, from)))
    case Booleans => statistics.updateStats(source(from) != 0)
    case Others =>
      val start = if (variable) from + 4 else from
      statistics.updateStats(Binary.fromReusedByteArray(source, start, to - start))
  }

  /** The statistics, which hold copies of their values. */
  def result(nulls: Long): Statistics[_ <: Comparable[_]] = {
    if (any) order match {
      case SignedInts | UnsignedInts =>
        statistics.updateStats(min.toInt)
        statistics.updateStats(max.toInt)
      case SignedLongs =>
        statistics.updateStats(min)
        statistics.updateStats(max)
      case UnsignedLongs =>
        statistics.updateStats(min ^ Long.MinValue)
        statistics.updateStats(max ^ Long.MinValue)
      case _ =>
        statistics.updateStats(least.toBinary)
        statistics.updateStats(greatest.toBinary)
    }
    statistics.incrementNumNulls(nulls)
    statistics
  }

  private def addNumber(value: Long): Unit =
    if (!any) {
      min = value
      max = value
      any = true
    } else if (value < min) min = value
    else if (value > max) max = value

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

  // Numbers, for they are matched on for every value.
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

  private def orderOf(primitive: PrimitiveType): Int =
    if (primitive.columnOrder.getColumnOrderName == ColumnOrder.ColumnOrderName.UNDEFINED) NoOrder
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

  /** The first eight bytes as a number that orders as the bytes do; shorter values are filled up with zeros. */
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

  /** A value by its place. Almost all comparisons are settled by the prefix. */
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
