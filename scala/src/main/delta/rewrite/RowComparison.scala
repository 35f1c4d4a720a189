package org.apache.spark.sql.delta.upkeep.rewrite

import io.deltaupkeep.CountText

import org.apache.spark.sql.delta.upkeep.spark.SparkApi
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, SessionCopy}
import org.apache.spark.sql.delta.upkeep.versions.NewFile
import org.apache.spark.sql.{Column, DataFrame}
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.functions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

/**
 * Compares the rows of new files with those of their inputs. Delta on Spark reads both; the splice engine is
 * not involved. Runs one Spark job, which reads every column of all files and shuffles one row per task.
 */
private[upkeep] final class RowComparison(handle: DeltaHandle) {
  import RowComparison._

  private val snapshot: Snapshot = handle.snapshot

  private lazy val session = SessionCopy.of(handle.session) { conf =>
    // Sums of hashes wrap around.
    conf.setConf(SQLConf.ANSI_ENABLED, false)
    // A rewrite keeps the order of a map's entries.
    conf.setConf(SQLConf.LEGACY_ALLOW_HASH_ON_MAPTYPE, true)
  }

  private lazy val stored = new StoredRows(snapshot, session)

  /**
   * The columns in which the rows differ, whatever their order; [[Rows]] if only whole rows or their number
   * differ.
   *
   * For each column the hashes of its values are added up over the inputs and subtracted over the outputs. A
   * hash of each whole row finds values that were swapped between rows. A difference is missed once in 2^64
   * cases.
   */
  def differences(inputs: Seq[AddFile], outputs: Seq[AddFile]): Seq[String] = session.withActive {
    val (before, names) = hashed(inputs, sign = 1)
    val (after, _) = hashed(outputs.map(withRowIds), sign = -1)
    val sums = before.columns.map(column => sum(col(column)))
    session.sparkContext.setJobDescription(
      s"OPTIMIZE ${handle.name}: compare ${CountText.of(outputs.size, "new file")} with their inputs"
    )
    val row = before.union(after).agg(sums.head, sums.tail.toSeq: _*).head()
    (names :+ Rows :+ Rows).zipWithIndex.collect {
      case (name, i) if !row.isNullAt(i) && row.getLong(i) != 0 => name
    }.distinct
  }

  /** A commit assigns these to new files. Rows whose ids are kept in columns of the file do not need them. */
  private def withRowIds(add: AddFile): AddFile =
    NewFile.changed(add)(
      baseRowId = add.baseRowId.orElse(Some(0L)),
      rowCommitVersion = add.defaultRowCommitVersion.orElse(Some(0L))
    )

  /**
   * A hash for each column, a hash of the row, and a 1 to count it, each multiplied by `sign`, with the
   * columns' names.
   */
  private def hashed(files: Seq[AddFile], sign: Int): (DataFrame, Seq[String]) = {
    val rows = stored.of(files)
    val names = rows.schema.fieldNames.toSeq
    // Names may hold dots and quotes.
    val numbered = rows.toDF(names.indices.map(i => s"c$i"): _*)
    val values = names.indices.map(i => exactly(col(s"c$i"), rows.schema(i).dataType))
    val hashes = values.map(xxhash64(_)) :+ xxhash64(values: _*) :+ lit(1L)
    val signed = hashes.zipWithIndex.map { case (hash, i) => (hash * sign).as(s"h$i") }
    (numbered.select(signed: _*), names)
  }

  /**
   * A form that distinguishes all values of a type: hashes do not distinguish -0.0 from 0.0, or equal
   * collated strings.
   */
  private def exactly(column: Column, dataType: DataType): Column = dataType match {
    case DoubleType | FloatType => struct(column, when(column === 0, column.cast(StringType)))
    case text: StringType if SparkApi.comparesBytes(text) => column
    case other if other.existsRecursively(isInexact) => to_json(struct(column))
    case _ => column
  }

  private def isInexact(dataType: DataType): Boolean = dataType match {
    case text: StringType => !SparkApi.comparesBytes(text)
    case variant if SparkApi.isVariant(variant) => true
    case _ => false
  }
}

private[upkeep] object RowComparison {

  /** Says in a sentence in which columns rows differ. */
  def told(columns: Seq[String]): String = s"As Spark reads them, rows differ in ${columns.mkString(", ")}."

  /** Stands for whole rows among the names of columns. */
  val Rows: String = "(rows)"
}
