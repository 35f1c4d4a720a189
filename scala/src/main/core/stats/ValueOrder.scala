package io.deltaupkeep.stats

import java.math.{BigDecimal => JavaDecimal}
import java.nio.charset.StandardCharsets.UTF_8
import java.time.{Instant, LocalDate, LocalDateTime, OffsetDateTime}
import java.util.Arrays

import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.types._

/** A value as the log spells it, ordered by its type. */
private[deltaupkeep] trait Bound {
  def node: JsonNode

  /** Whether it is certainly the value that the file has. */
  def isExact: Boolean

  def isBelow(other: Bound): Boolean
}

/** How the values of a type are written in the log, and ordered. */
private[deltaupkeep] final class ValueOrder[T](
    parse: JsonNode => Option[T],
    isExact: (JsonNode, T) => Boolean = (_: JsonNode, _: T) => true
)(compare: (T, T) => Int) {

  private final class Value(val node: JsonNode, val value: T) extends Bound {
    override def isExact: Boolean = ValueOrder.this.isExact(node, value)
    // All bounds of a column have its order.
    override def isBelow(other: Bound): Boolean = compare(value, other.asInstanceOf[Value].value) < 0
  }

  /** None if it is not a value of the type, or may stand for several. */
  def read(node: JsonNode): Option[Bound] = parse(node).map(new Value(node, _))
}

private[deltaupkeep] object ValueOrder {

  /** None for a type that has no order in the log. */
  def of(dataType: DataType): Option[ValueOrder[_]] = dataType match {
    case FloatType | DoubleType => Some(floats)
    case decimal: DecimalType if decimal.precision > DoubleDigits => Some(decimals(decimal.scale))
    case _: NumericType => Some(numbers)
    // Delta keeps no bounds of strings that are ordered by a collation.
    case StringType => Some(strings)
    case DateType => Some(dates)
    case TimestampType => Some(instants)
    case TimestampNTZType => Some(localTimes)
    case _ => None
  }

  /** For bounds that may be beyond all values: Delta ends the maximum of long texts with U+FFFD, before 3.3. */
  def ofBounds(dataType: DataType): Option[ValueOrder[_]] = dataType match {
    case StringType => Some(texts)
    case other => of(other)
  }

  private val numbers =
    new ValueOrder(node => Option.when(node.isNumber)(node.decimalValue))(_ compareTo _)
  // Ordered like a `Double`: NaN is the greatest, and -0.0 is below 0.0.
  private val floats = new ValueOrder(floatOf)(java.lang.Double.compare(_, _))
  private val strings = stringsThat(isUtf8)
  private val texts = stringsThat(_ => true)
  private val dates = new ValueOrder(text(LocalDate.parse(_)))(_ compareTo _)
  private val instants = new ValueOrder[Instant](
    text(OffsetDateTime.parse(_).toInstant),
    (node, instant) => !LocalMeanTime.mayBe(node.textValue, instant)
  )(_ compareTo _)
  private val localTimes = new ValueOrder(text(LocalDateTime.parse(_)))(_ compareTo _)

  /** Digits of a decimal that a double keeps. */
  private val DoubleDigits = 15

  /** The digits of the longest Long; a double is written with 17 at most. */
  private val LongDigits = 19

  private val longs = Seq(JavaDecimal.valueOf(Long.MinValue), JavaDecimal.valueOf(Long.MaxValue))

  /**
   * delta-rs computes bounds of decimals as doubles, and writes those of scale 0 as Longs, which stand for all values
   * beyond them (delta-rs 1.6.6, `StatsScalar::Decimal`). Others write them as they are, with their scale.
   */
  private def decimals(scale: Int): ValueOrder[JavaDecimal] =
    new ValueOrder[JavaDecimal](
      node =>
        Option.when(node.isNumber)(node.decimalValue).filterNot(value =>
          longs.exists(_.compareTo(value) == 0)
        ),
      (_, value) =>
        value.precision - value.scale + scale <= DoubleDigits ||
          value.scale == scale && value.precision > LongDigits
    )(_ compareTo _)

  /** Writers of JSON put U+FFFD in place of bytes that are not UTF-8, or of half a surrogate pair. */
  private def isUtf8(text: String): Boolean = {
    var i = 0
    while (i < text.length && text.charAt(i) != '\uFFFD' && !isHalf(text, i))
      i += Character.charCount(text.codePointAt(i))
    i == text.length
  }

  private def isHalf(text: String, i: Int): Boolean =
    Character.isSurrogate(text.charAt(i)) && !Character.isSupplementaryCodePoint(text.codePointAt(i))

  /** JSON has no numbers for some of them, so Spark writes them as strings. */
  private def floatOf(node: JsonNode): Option[Double] =
    if (node.isNumber) Some(node.doubleValue)
    else
      Option(node.textValue).collect {
        case "NaN" => Double.NaN
        case "Infinity" => Double.PositiveInfinity
        case "-Infinity" => Double.NegativeInfinity
      }

  private def stringsThat(areRead: String => Boolean) =
    new ValueOrder(node =>
      Option.when(node.isTextual)(node.textValue).filter(areRead).map(_.getBytes(UTF_8))
    )(
      Arrays.compareUnsigned
    )

  private def text[T](parse: String => T)(node: JsonNode): Option[T] = Try(parse(node.textValue)).toOption
}
