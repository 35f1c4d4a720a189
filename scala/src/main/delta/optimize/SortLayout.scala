package org.apache.spark.sql.delta.upkeep.optimize

import io.deltaupkeep.{UpkeepErrors, UpkeepException}
import io.deltaupkeep.parquet.cut.{KeyOrder, Lexicographic}
import io.deltaupkeep.plan.compact.{CodecFindings, DataFile, Layout, OptimizePlan, OptimizeSettings}

import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.util.QuotingUtils
import org.apache.spark.sql.delta.DeltaOperations.Operation
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.files.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi
import org.apache.spark.sql.functions.{col, xxhash64}
import org.apache.spark.sql.types.{BinaryType, DataType, DateType, NumericType, StringType, TimestampType}

/** OPTIMIZE ... ORDER BY, or of a table with the property `deltaUpkeep.sortOrder`. */
private[optimize] final class SortLayout(override protected val table: DeltaHandle, layout: Layout.Sort)
    extends Reordered(table, layout.columns)
    with OwnOrder {

  override protected val tags: OrderTags =
    new OrderTags(table, DataFile.SortTag, layout.columns, layout.descending)

  override protected val order: KeyOrder = Lexicographic(layout.descending.toIndexedSeq)

  override def plan(
      selected: SelectedFiles,
      settings: OptimizeSettings,
      codecs: CodecFindings
  ): OptimizePlan =
    try plan(layout, layout.columns, layout.full, selected, settings, codecs)
    catch {
      case e: UpkeepException if layout.property.nonEmpty && e.name == "ZORDER_COLUMN" =>
        throw UpkeepErrors.invalidSortOrder(table.name, layout.property.get, e.text.cause).causedBy(e)
    }

  /** Ranges from a sample of the rows; each is sorted. */
  override def arranged(rows: DataFrame, outputs: Int): DataFrame = {
    val keys: Seq[Column] = layout.columns.zip(layout.descending).map { case (name, descending) =>
      if (descending) col(name).desc else col(name).asc
    }
    // Rows with equal keys would all go into one file.
    val others = rows.schema.filter(field => isHashed(field.dataType)).map(field => column(field.name))
    val apart = if (others.isEmpty) Nil else Seq(xxhash64(others: _*))
    // Delta's writer sorts by the partition first, which a bin has one of.
    val partition = table.snapshot.metadata.partitionColumns.map(column)
    rows.repartitionByRange(outputs, keys ++ apart: _*).sortWithinPartitions(partition ++ keys: _*)
  }

  private def isHashed(dataType: DataType): Boolean = dataType match {
    case _: NumericType | _: StringType | DateType | TimestampType | BinaryType => true
    case _ => false
  }

  private def column(name: String): Column = col(QuotingUtils.quoteIdentifier(name))

  override def marked(targetFileSize: Long): AddFile => AddFile = tags.newCube()

  /** Delta has no word for the order. */
  override def operation(predicate: Seq[Expression], isAuto: Boolean): Operation =
    DeltaApi.current.optimizeOperation(predicate, Nil, isAuto, None, false)
}
