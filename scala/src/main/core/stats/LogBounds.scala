package io.deltaupkeep.stats

import java.nio.charset.StandardCharsets.UTF_8
import java.time.{Instant, LocalDate, LocalDateTime, OffsetDateTime, ZoneOffset}
import java.time.temporal.ChronoUnit.MICROS
import java.util.Arrays

import scala.util.Try

import io.deltaupkeep.parquet.footer.LeafBounds

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.types._

/**
 * Compares bounds in the log with those of a written column (protocol, 'Per-file Statistics'). Pure.
 *
 * It parses the log's texts itself: the code that makes the new file's statistics would not find its own
 * mistakes.
 */
private[deltaupkeep] object LogBounds {

  /** Writers of the log truncate strings to 32 characters, and times to milliseconds. */
  private val CutAfter = 32
  private val CutMicros = 999

  private val DoubleDigits = 15
  private val DoubleError = BigDecimal("1e-15")

  /**
   * Whether both can be true of one column. For types that the log does not write exactly: whether the log's
   * bounds enclose the others.
   *
   * @param isTight whether the log's bounds are values of the column
   */
  def agree(
      dataType: DataType,
      min: JsonNode,
      max: JsonNode,
      written: LeafBounds,
      isTight: Boolean
  ): Boolean =
    written match {
      case LeafBounds.Numbers(least, greatest) =>
        (numberOf(dataType, min), numberOf(dataType, max)) match {
          case (Some(low), Some(high)) if isTime(dataType) =>
            low - offsetError(dataType, min, low) <= least &&
            greatest <= high + CutMicros + offsetError(dataType, max, high)
          case (Some(low), Some(high)) =>
            val (sameLow, sameHigh) = (isSame(dataType, low, least), isSame(dataType, high, greatest))
            if (isTight) sameLow && sameHigh
            else (sameLow || low <= least) && (sameHigh || greatest <= high)
          case _ => true
        }
      case LeafBounds.Texts(least, greatest) =>
        !min.isTextual || !max.isTextual || {
          val (low, high) = (min.textValue.getBytes(UTF_8), max.textValue.getBytes(UTF_8))
          (isAtMost(low, least) || low.startsWith(least)) &&
          (max.textValue.length >= CutAfter || isAtMost(greatest, high) ||
            isAtMost(beforeIncrement(greatest), high))
        }
    }

  private def isAtMost(a: Array[Byte], b: Array[Byte]): Boolean = Arrays.compareUnsigned(a, b) <= 0

  /**
   * The least text for which a footer can have this greatest value. Writers truncate such values and increment the
   * last character (`parquet.statistics.truncate.length`). Example: `ab` for `aa` and `aaz`.
   */
  private def beforeIncrement(greatest: Array[Byte]): Array[Byte] = greatest.lastOption match {
    case Some(last) if last > 0 => greatest.init :+ (last - 1).toByte
    case _ => greatest.reverseIterator.dropWhile(isContinuation).drop(1).toArray.reverse
  }

  /** Whether a byte follows the first one of a character (UTF-8). */
  private def isContinuation(byte: Byte): Boolean = (byte & 0xc0) == 0x80

  /** Some writers of the log write decimals as doubles, such as delta-rs. */
  private def isSame(dataType: DataType, log: BigDecimal, written: BigDecimal): Boolean = dataType match {
    case decimal: DecimalType if decimal.precision > DoubleDigits =>
      (log - written).abs <= written.abs * DoubleError
    case _ => log == written
  }

  private def isTime(dataType: DataType): Boolean = dataType match {
    case TimestampType | TimestampNTZType => true
    case _ => false
  }

  private def offsetError(dataType: DataType, node: JsonNode, micros: BigDecimal): Long =
    if (
      dataType == TimestampType && LocalMeanTime.mayBe(
        node.textValue,
        Instant.EPOCH.plus(micros.toLong, MICROS)
      )
    ) LocalMeanTime.ErrorMicros
    else 0

  /** None if the log has no number of the type, such as NaN. */
  private def numberOf(dataType: DataType, node: JsonNode): Option[BigDecimal] = dataType match {
    case FloatType => number(node).flatMap(n => exactly(n.toFloat.toDouble))
    case DoubleType => number(node).flatMap(n => exactly(n.toDouble))
    case _: NumericType => number(node)
    case DateType => parsed(node)(LocalDate.parse(_).toEpochDay)
    case TimestampType => parsed(node)(text => micros(OffsetDateTime.parse(text).toInstant))
    case TimestampNTZType => parsed(node)(text => micros(LocalDateTime.parse(text).toInstant(ZoneOffset.UTC)))
    case _ => None
  }

  private def number(node: JsonNode): Option[BigDecimal] =
    Option.when(node.isNumber)(BigDecimal(node.decimalValue))

  private def exactly(value: Double): Option[BigDecimal] =
    Option.unless(value.isInfinite)(BigDecimal(new java.math.BigDecimal(value)))

  private def parsed(node: JsonNode)(parse: String => Long): Option[BigDecimal] =
    Try(BigDecimal(parse(node.textValue))).toOption

  private def micros(instant: Instant): Long = MICROS.between(Instant.EPOCH, instant)
}
