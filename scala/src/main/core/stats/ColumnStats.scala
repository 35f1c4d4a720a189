package io.deltaupkeep.stats

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.node.DoubleNode

import org.apache.spark.sql.types.{ArrayType, DataType, DoubleType, FloatType, MapType}

/**
 * Merges the statistics of files for one column (protocol, 'Per-file Statistics').
 *
 * @param path       names from the top
 * @param isRestated whether the log's bounds of older files mean other values now
 */
private[deltaupkeep] final class ColumnStats(
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
  private var isExact = true
  private var nulls = 0L
  private var least: Bound = null
  private var greatest: Bound = null

  def isCollection: Boolean = dataType.isInstanceOf[ArrayType] || dataType.isInstanceOf[MapType]

  /** Whether some file has a null count. */
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

  /**
   * The merged statistics that the log gets for a new file; None if some of the files have no statistics of the
   * column, or bounds that may not be those of its values.
   */
  def result: Option[ColumnStats.Of] = said.filter(_ => boundsOfValues == 0 || hasBounds && isExact)

  /** What the files say, which need not be exact; None if some of them lack a null count. */
  def said: Option[ColumnStats.Of] = Option.when(filesWithNullCount == files) {
    if (boundsOfValues > 0 && hasBounds)
      ColumnStats.Of(Some(least.node), Some(greatest.node), Some(nulls))
    else ColumnStats.Of(None, None, Some(nulls))
  }

  private def hasBounds: Boolean = boundsOfValues == 2 * filesWithValues && isOrdered && !isRestated

  private def read(node: JsonNode): Option[Bound] = {
    val bound = order.flatMap(_.read(node))
    isOrdered &&= bound.nonEmpty
    isExact &&= bound.forall(_.isExact)
    bound
  }

  private def isKnown(node: JsonNode): Boolean = node != null && !node.isNull
}

private[deltaupkeep] object ColumnStats {

  /** What is known about a column. */
  final case class Of(min: Option[JsonNode], max: Option[JsonNode], nullCount: Option[Long]) {

    /**
     * The same with bounds that include both zeros. Spark treats -0.0 and 0.0 as equal and writes either; readers that
     * do not would skip rows (Parquet format, 'TypeDefinedOrder').
     */
    def withBothZeros(dataType: DataType): Of = dataType match {
      case FloatType | DoubleType => copy(min.map(zeroAs(-0.0)), max.map(zeroAs(0.0)))
      case _ => this
    }

    /** The same without texts in which Delta's writer put U+FFFD for bytes that are not UTF-8: these may be greater. */
    def withoutReplaced: Of = if ((min ++ max).exists(hasReplaced)) copy(min = None, max = None) else this
  }

  /** Delta also writes it in place of the rest of a long text. */
  private def hasReplaced(bound: JsonNode): Boolean = bound.isTextual && {
    val at = bound.textValue.indexOf('\uFFFD')
    at >= 0 && at < math.max(bound.textValue.length - 1, LongText)
  }

  /** Delta's default for `dataSkippingStringPrefixLength`, in characters. */
  private val LongText = 32

  private def zeroAs(zero: Double)(bound: JsonNode): JsonNode =
    if (bound.isNumber && bound.doubleValue == 0) DoubleNode.valueOf(zero) else bound
}
