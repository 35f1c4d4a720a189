package org.apache.spark.sql.delta.upkeep.spark

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.parquet.HadoopReadOptions
import org.apache.parquet.column.impl.ColumnReadStoreImpl
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.io.api.{Converter, GroupConverter, PrimitiveConverter}
import org.apache.parquet.schema.{GroupType, MessageType, Type}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

/**
 * Reads a Parquet file column by column, without assembling records: several times as fast as Spark's reader of rows. Not
 * thread-safe.
 */
private[upkeep] final class ParquetColumns private (
    reader: ParquetFileReader,
    row: StoredColumn.Struct,
    requested: MessageType
) extends AutoCloseable {

  /** Their number; 0 if the file has none of the columns. */
  val rowGroups: Int = if (row.types.isEmpty) 0 else reader.getRowGroups.size

  /** Calls `use` with each row of a row group, counted from 0. */
  def foreach(rowGroup: Int)(use: InternalRow => Unit): Unit =
    // The library takes one without rows for damage.
    if (reader.getRowGroups.get(rowGroup).getRowCount > 0)
      Option(reader.readRowGroup(rowGroup)).foreach { pages =>
        try {
          val converter = new ParquetColumns.Nothing(requested)
          val store =
            new ColumnReadStoreImpl(pages, converter, requested, reader.getFileMetaData.getCreatedBy)
          val values = row.open { path =>
            store.getColumnReader(requested.getColumnDescription(path.toArray))
          }
          var left = pages.getRowCount
          while (left > 0) {
            use(values.fields())
            left -= 1
          }
        } finally
          pages match {
            case closeable: AutoCloseable => closeable.close()
            case _ => ()
          }
      }

  override def close(): Unit = reader.close()
}

private[upkeep] object ParquetColumns {

  /**
   * Opens a file.
   *
   * @param columns texts, whole numbers, booleans, maps of texts, and structs of these, found by their names
   * @return None if the file stores one of them in a way that is left to Spark's reader
   */
  def open(file: FileStatus, columns: StructType, conf: Configuration): Option[ParquetColumns] = {
    val options = HadoopReadOptions.builder(conf).build()
    val reader = ParquetFileReader.open(HadoopInputFile.fromStatus(file, conf), options)
    try {
      val schema = reader.getFileMetaData.getSchema
      val found = StoredColumn.row(columns, schema)
      if (found.isEmpty) reader.close()
      found.map { row =>
        val requested = new MessageType(schema.getName, row.types.asJava)
        reader.setRequestedSchema(requested)
        new ParquetColumns(reader, row, requested)
      }
    } catch {
      case failure: Throwable =>
        reader.close()
        throw failure
    }
  }

  /** Takes nothing: values are asked for one by one. */
  private final class Nothing(group: GroupType) extends GroupConverter {
    private val fields = group.getFields.asScala.toIndexedSeq.map(converterOf)

    private def converterOf(field: Type): Converter =
      if (field.isPrimitive) new PrimitiveConverter {}
      else new Nothing(field.asGroupType)

    override def getConverter(field: Int): Converter = fields(field)
    override def start(): Unit = ()
    override def end(): Unit = ()
  }
}
