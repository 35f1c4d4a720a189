package org.apache.spark.sql.delta.upkeep.read

import java.util.Collections

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.parquet.HadoopReadOptions
import org.apache.parquet.filter2.compat.FilterCompat
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.api.InitContext
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.io.ColumnIOFactory

import org.apache.spark.paths.SparkPath
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.delta.actions.Action
import org.apache.spark.sql.delta.upkeep.spark.SparkApi.ClassicSession
import org.apache.spark.sql.execution.datasources.{DataSourceUtils, FileFormat, PartitionedFile}
import org.apache.spark.sql.execution.datasources.parquet.{ParquetFileFormat, ParquetReadSupport}
import org.apache.spark.sql.types.StructType

/**
 * Reads Parquet files of checkpoints on the driver, without a Spark job.
 *
 * @param columns of Delta's log
 */
private[upkeep] final class CheckpointRows(
    columns: StructType,
    session: ClassicSession,
    settings: Configuration
) {

  private val conf = new Configuration(settings)

  // This adds the settings that Spark's reader needs.
  private val read = new ParquetFileFormat().buildReaderWithPartitionValues(
    session,
    Action.logSchema,
    partitionSchema = new StructType,
    requiredSchema = columns,
    filters = Nil,
    options = Map(FileFormat.OPTION_RETURNING_BATCH -> "false"),
    conf
  )

  /** All rows of a file. Each row is valid until the next one. Thread-safe. */
  def in(file: FileStatus): Iterator[InternalRow] =
    read(PartitionedFile(InternalRow.empty, SparkPath.fromFileStatus(file), 0, file.getLen))

  /**
   * The rows of some row groups of a file. Readers that are given a range of bytes find row groups by offsets
   * that some writers get wrong, so this counts them.
   *
   * @param rowGroups counted from 0
   * @param use       takes a row, which is valid until the next one
   */
  def foreach(file: FileStatus, rowGroups: Seq[Int])(use: InternalRow => Unit): Unit = {
    val options = HadoopReadOptions.builder(conf).build()
    Using.resource(ParquetFileReader.open(HadoopInputFile.fromStatus(file, conf), options)) { reader =>
      val meta = reader.getFileMetaData
      val keyValues = meta.getKeyValueMetaData
      // No column of the log is a date or a time.
      val support = new ParquetReadSupport(
        None,
        enableVectorizedReader = false,
        DataSourceUtils.datetimeRebaseSpec(keyValues.get, "CORRECTED"),
        DataSourceUtils.int96RebaseSpec(keyValues.get, "CORRECTED")
      )
      val sets = keyValues.asScala.map { case (key, value) => key -> Collections.singleton(value) }.asJava
      val context = support.init(new InitContext(conf, sets, meta.getSchema))
      val toRow = support.prepareForRead(conf, keyValues, meta.getSchema, context)
      val stored = new ColumnIOFactory(meta.getCreatedBy)
        .getColumnIO(context.getRequestedSchema, meta.getSchema, true)
      reader.setRequestedSchema(context.getRequestedSchema)
      rowGroups.iterator.flatMap(i => Option(reader.readRowGroup(i))).foreach { pages =>
        val rows = stored.getRecordReader(pages, toRow, FilterCompat.NOOP)
        (0L until pages.getRowCount).foreach(_ => use(rows.read()))
      }
    }
  }
}
