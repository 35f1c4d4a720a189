package org.apache.spark.sql.delta.upkeep.vacuum

import java.io.FileNotFoundException

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Try

import io.deltaupkeep.{SideBySide, UpkeepErrors}
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
 * @param threads   that ask the store for files
 */
private[vacuum] final class InventoryFiles(
    table: DeltaHandle,
    names: FileNames,
    inventory: String,
    threads: Int
) {
  import InventoryFiles._

  private val root = table.snapshot.deltaLog.dataPath
  private val fileSystem = root.getFileSystem(table.hadoopConf)

  /**
   * Calls `use` with each file below the table's root. An inventory may be old, and its times may be wrong: those of
   * files that are due for deletion come from the store, and so do the tables in the directories above them.
   *
   * @param isDue   whether a file would be deleted
   * @param isTable takes each directory below the root that is another table
   * @throws io.deltaupkeep.UpkeepException `INVENTORY_NOT_READABLE`
   */
  def foreach(isDue: FoundFile => Boolean, isTable: String => Unit)(use: FoundFile => Unit): Unit = {
    val due = mutable.LinkedHashSet.empty[String]
    var below = false
    val rows = found
    rows.where(col("path").contains(root.toUri.getPath)).toLocalIterator().asScala.flatMap(fileOf).foreach {
      file =>
        below = true
        if (isDue(file)) due += file.path else use(file)
    }
    // It may be that of another bucket, or spell the locations in another way.
    lazy val all = rows.toLocalIterator().asScala
    if (!below && all.hasNext && !all.exists(isInStore))
      throw notReadable(s"None of its files is in the store of ${table.path}.")
    each(due.iterator.flatMap(directoriesAbove).toSet.toVector) { directory =>
      Option.when(fileSystem.exists(new Path(names.pathOf(directory), table.logPath.getName)))(directory)
    }.foreach(isTable)
    each(due.toVector)(inStore).foreach(use)
  }

  private def each[A, B](items: Seq[A])(ask: A => Option[B]): Seq[B] =
    SideBySide.map(items, "delta-upkeep-inventory", threads)(ask).flatten

  private def inStore(name: String): Option[FoundFile] =
    try
      Some(fileSystem.getFileStatus(names.pathOf(name))).filter(_.isFile).map { status =>
        FoundFile(name, status.getLen, status.getModificationTime)
      }
    catch { case _: FileNotFoundException => None }

  private def found: DataFrame =
    try {
      val all = table.session.sql(s"SELECT * FROM $inventory")
      val rows = all.select(Columns.map { case (name, _) => col(name) }: _*)
      rows.schema.fields.zip(Columns).foreach { case (field, (name, expected)) =>
        if (field.dataType != expected)
          throw notReadable(s"Its column $name is ${field.dataType.sql}, and has to be ${expected.sql}.")
      }
      rows.where(!col("isDir"))
    } catch { case e: AnalysisException => throw notReadable(e.getMessage, Some(e)) }

  private def pathOf(row: Row): Option[Path] =
    Option(row.getString(0)).flatMap(location => Try(new Path(location)).toOption)

  private def isInStore(row: Row): Boolean = pathOf(row).exists(names.isInStore)

  /** None if it is not of the table. A file without a time counts as new. */
  private def fileOf(row: Row): Option[FoundFile] =
    for {
      path <- pathOf(row) if names.isInStore(path)
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

  /** Those of `a/b/c` are `a` and `a/b`. */
  private def directoriesAbove(name: String): Iterator[String] =
    name.split('/').inits.drop(1).takeWhile(_.nonEmpty).map(_.mkString("/"))

  private val Columns: Seq[(String, DataType)] = Seq(
    "path" -> StringType,
    "length" -> LongType,
    "isDir" -> BooleanType,
    "modificationTime" -> LongType
  )
}
