package io.deltaupkeep.parquet.footer

import java.math.{BigDecimal => JavaDecimal, BigInteger}
import java.util.Arrays

import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.PrimitiveType
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

/** The minimum and maximum of a column, independent of Parquet's types. */
sealed trait LeafBounds {

  /** Of the values of both, if they are of one type. */
  private[footer] def and(other: LeafBounds): Option[LeafBounds] =
    LeafBounds.together(Seq(this, other).map {
      case LeafBounds.Numbers(min, max) => (min, max)
      case LeafBounds.Texts(min, max) => (min, max)
    })
}

object LeafBounds {

  /** Numbers; dates as days since the epoch, timestamps as microseconds. */
  final case class Numbers(min: BigDecimal, max: BigDecimal) extends LeafBounds

  /** Strings, as UTF-8. */
  final case class Texts(min: Array[Byte], max: Array[Byte]) extends LeafBounds

  /**
   * The bounds over row groups, each with its number of values. None if a row group with values has none, or a minimum
   * above its maximum.
   */
  private[parquet] def of(
      primitive: PrimitiveType,
      groups: Seq[(Statistics[_], Long)]
  ): Option[LeafBounds] = {
    val valued = groups.filterNot { case (found, values) =>
      found.isNumNullsSet && found.getNumNulls == values
    }
    val read = reader(primitive)
    if (valued.isEmpty || read.isEmpty || !valued.forall(_._1.hasNonNullValue)) None
    else {
      val each = valued.flatMap { case (found, _) =>
        for {
          min <- read.get(found.genericGetMin)
          max <- read.get(found.genericGetMax)
        } yield (min, max)
      }
      Option.when(each.size == valued.size && each.forall(isOrdered))(each).flatMap(together)
    }
  }

  private def isOrdered(bounds: (Any, Any)): Boolean = bounds match {
    case (min: BigDecimal, max: BigDecimal) => min <= max
    case (min: Array[Byte], max: Array[Byte]) => unsigned.lteq(min, max)
    case _ => false
  }

  private def together(each: Seq[(Any, Any)]): Option[LeafBounds] = each.head match {
    case (_: BigDecimal, _) =>
      val bounds = each.collect { case (min: BigDecimal, max: BigDecimal) => (min, max) }
      Some(Numbers(bounds.map(_._1).min, bounds.map(_._2).max))
    case (_: Array[Byte], _) =>
      val bounds = each.collect { case (min: Array[Byte], max: Array[Byte]) => (min, max) }
      Some(Texts(bounds.map(_._1).min(unsigned), bounds.map(_._2).max(unsigned)))
    case _ => None
  }

  private val unsigned: Ordering[Array[Byte]] = (a, b) => Arrays.compareUnsigned(a, b)

  /** How values of a type are read. None for types that the log orders differently or not at all. */
  private def reader(primitive: PrimitiveType): Option[Any => Option[Any]] =
    (primitive.getPrimitiveTypeName, primitive.getLogicalTypeAnnotation) match {
      case (INT32 | INT64, null | _: DateLogicalTypeAnnotation) => Some(number(scale = 0))
      case (INT32 | INT64, ints: IntLogicalTypeAnnotation) if ints.isSigned => Some(number(scale = 0))
      case (INT64, time: TimestampLogicalTypeAnnotation) =>
        time.getUnit match {
          case TimeUnit.MICROS => Some(number(scale = 0))
          case TimeUnit.MILLIS => Some(number(scale = -3))
          case TimeUnit.NANOS => None
        }
      case (_, decimal: DecimalLogicalTypeAnnotation) => Some(number(decimal.getScale))
      case (FLOAT | DOUBLE, null) => Some(number(scale = 0))
      case (BINARY, _: StringLogicalTypeAnnotation) =>
        Some {
          case text: Binary => Some(text.getBytes)
          case _ => None
        }
      case _ => None
    }

  private def number(scale: Int)(value: Any): Option[BigDecimal] = value match {
    case int: Integer => Some(BigDecimal(new JavaDecimal(BigInteger.valueOf(int.longValue), scale)))
    case long: java.lang.Long => Some(BigDecimal(new JavaDecimal(BigInteger.valueOf(long), scale)))
    case bytes: Binary => Some(BigDecimal(new JavaDecimal(new BigInteger(bytes.getBytes), scale)))
    case float: java.lang.Float => number(scale)(float.doubleValue: java.lang.Double)
    case double: java.lang.Double =>
      Option.when(!double.isInfinite && !double.isNaN)(BigDecimal(new JavaDecimal(double)))
    case _ => None
  }
}
