package org.apache.spark.sql.delta.upkeep.vacuum

import scala.jdk.CollectionConverters._
import scala.util.Try

import io.deltaupkeep.UpkeepErrors
import io.deltaupkeep.plan.vacuum.FoundFile

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types._

/**
 * The files of a table that an inventory has, as object stores report it. Its columns are those of Delta's VACUUM USING
 * INVENTORY. Directories are left alone: object stores have none.
 *
 * @param inventory a table, or a query in parentheses
 */
private[vacuum] final class InventoryFiles(table: DeltaHandle, names: FileNames, inventory: String) {
  import InventoryFiles._

  /**
   * Calls `use` with each file below the table's root.
   *
   * @throws io.deltaupkeep.UpkeepException `INVENTORY_NOT_READABLE`
   */
  def foreach(use: FoundFile => Unit): Unit = {
    var (rows, below) = (0L, 0L)
    files.toLocalIterator().asScala.foreach { row =>
      rows += 1
      fileOf(row).foreach { file =>
        below += 1
        use(file)
      }
    }
    // It may be that of another bucket, or spell the locations in another way.
    if (rows > 0 && below == 0) throw notReadable(s"None of its $rows files is below ${table.path}.")
  }

  private def files: DataFrame = {
    val found =
      try table.session.sql(s"SELECT * FROM $inventory")
      catch { case e: AnalysisException => throw notReadable(e.getMessage, Some(e)) }
    Columns.foreach { case (name, expected) =>
      val type_ = Try(found.schema(name)).toOption.map(_.dataType)
      if (!type_.contains(expected))
        throw notReadable(
          s"Its column $name is ${type_.fold("missing")(_.sql)}, and has to be ${expected.sql}."
        )
    }
    found.where(!col("isDir")).select(Columns.map { case (name, _) => col(name) }: _*)
  }

  /** None if it is not of the table. A file without a time counts as new. */
  private def fileOf(row: Row): Option[FoundFile] =
    for {
      location <- Option(row.getString(0))
      path <- Try(new Path(location)).toOption if names.isInStore(path)
      name <- names.below(path)
    } yield FoundFile(
      name,
      if (row.isNullAt(1)) 0L else row.getLong(1),
      if (row.isNullAt(3)) Long.MaxValue else row.getLong(3)
    )

  private def notReadable(cause: String, thrown: Option[Throwable] = None) =
    UpkeepErrors.inventoryNotReadable(table.name, inventory, cause, thrown)
}

private object InventoryFiles {
  private val Columns: Seq[(String, DataType)] = Seq(
    "path" -> StringType,
    "length" -> LongType,
    "isDir" -> BooleanType,
    "modificationTime" -> LongType
  )
}
