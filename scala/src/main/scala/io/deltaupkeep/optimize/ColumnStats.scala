package io.deltaupkeep.optimize

import java.nio.charset.StandardCharsets.UTF_8
import java.time.{Instant, LocalDate, LocalDateTime, OffsetDateTime}
import java.util.Arrays

import scala.util.Try

import com.fasterxml.jackson.databind.JsonNode

import org.apache.spark.sql.types._

/**
 * Merges the statistics of files for one column (protocol, 'Per-file Statistics').
 *
 * @param path       names from the top
 * @param isRestated whether what the log tells of older files means other values now
 */
private[optimize] final class ColumnStats(
    val path: List[String],
    val dataType: DataType,
    isRestated: Boolean = false
) {

  private val order = ValueOrder.of(dataType)
  private var files = 0
  private var filesWithNullCount = 0
  private var filesWithValues = 0
  private var boundsOfValues = 0
  private var isOrdered = order.nonEmpty
  private var nulls = 0L
  private var least: Bound = null
  private var greatest: Bound = null

  def isCollection: Boolean = dataType.isInstanceOf[ArrayType] || dataType.isInstanceOf[MapType]

  /** Whether some file has the number of nulls. */
  def hasNullCounts: Boolean = filesWithNullCount > 0

  /** Adds a file of `rows` rows, at least one; null for unknown values. */
  def add(rows: Long, min: JsonNode, max: JsonNode, nullCount: JsonNode): Unit = {
    files += 1
    val known = (if (isKnown(min)) 1 else 0) + (if (isKnown(max)) 1 else 0)
    if (isKnown(nullCount)) {
      filesWithNullCount += 1
      nulls += nullCount.longValue
      if (nullCount.longValue < rows) {
        filesWithValues += 1
        boundsOfValues += known
        if (isKnown(min)) read(min).foreach(b => if (least == null || b.isBelow(least)) least = b)
        if (isKnown(max)) read(max).foreach(b => if (greatest == null || greatest.isBelow(b)) greatest = b)
      }
    }
  }

  /** The merged statistics; None if some of the files have no statistics of the column. */
  def result: Option[ColumnStats.Of] =
    if (filesWithNullCount < files) None
    else if (boundsOfValues == 0) Some(ColumnStats.Of(None, None, Some(nulls)))
    else
      Option.when(boundsOfValues == 2 * filesWithValues && isOrdered && !isRestated) {
        ColumnStats.Of(Some(least.node), Some(greatest.node), Some(nulls))
      }

  private def read(node: JsonNode): Option[Bound] = {
    val bound = order.flatMap(_.read(node))
    isOrdered &&= bound.nonEmpty
    bound
  }

  private def isKnown(node: JsonNode): Boolean = node != null && !node.isNull
}

private[optimize] object ColumnStats {

  /** What is known of a column. */
  final case class Of(min: Option[JsonNode], max: Option[JsonNode], nullCount: Option[Long])
}

/** A value as the log spells it, ordered by its type. */
private trait Bound {
  def node: JsonNode
  def isBelow(other: Bound): Boolean
}

/** How the values of a type are written in the log, and ordered. */
private final class ValueOrder[T](parse: JsonNode => Option[T])(compare: (T, T) => Int) {

  private final class Value(val node: JsonNode, val value: T) extends Bound {
    // All bounds of a column have its order.
    override def isBelow(other: Bound): Boolean = compare(value, other.asInstanceOf[Value].value) < 0
  }

  /** None if it is not a value of the type. */
  def read(node: JsonNode): Option[Bound] = parse(node).map(new Value(node, _))
}

private object ValueOrder {

  /** None for a type that has no order in the log. */
  def of(dataType: DataType): Option[ValueOrder[_]] = dataType match {
    case FloatType | DoubleType => Some(floats)
    case _: NumericType => Some(numbers)
    // Delta keeps no bounds of strings that are ordered by a collation.
    case StringType => Some(strings)
    case DateType => Some(dates)
    case TimestampType => Some(instants)
    case TimestampNTZType => Some(localTimes)
    case _ => None
  }

  private val numbers =
    new ValueOrder(node => Option.when(node.isNumber)(node.decimalValue))(_ compareTo _)
  // As a `Double` is ordered: NaN is the greatest, and -0.0 below 0.0.
  private val floats = new ValueOrder(floatOf)(java.lang.Double.compare(_, _))
  private val strings =
    new ValueOrder(node => Option.when(node.isTextual)(node.textValue.getBytes(UTF_8)))(
      Arrays.compareUnsigned
    )
  private val dates = new ValueOrder(text(LocalDate.parse(_)))(_ compareTo _)
  private val instants = new ValueOrder[Instant](text(OffsetDateTime.parse(_).toInstant))(_ compareTo _)
  private val localTimes = new ValueOrder(text(LocalDateTime.parse(_)))(_ compareTo _)

  /** JSON cannot write some of them as numbers, so Spark writes them as strings. */
  private def floatOf(node: JsonNode): Option[Double] =
    if (node.isNumber) Some(node.doubleValue)
    else
      Option(node.textValue).collect {
        case "NaN" => Double.NaN
        case "Infinity" => Double.PositiveInfinity
        case "-Infinity" => Double.NegativeInfinity
      }

  private def text[T](parse: String => T)(node: JsonNode): Option[T] = Try(parse(node.textValue)).toOption
}
