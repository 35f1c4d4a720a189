package org.apache.spark.sql.delta.upkeep.spark

import scala.collection.{mutable, BitSet}
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
private[upkeep] final class ParquetColumns(file: FileStatus, conf: Configuration) extends AutoCloseable {
  import ParquetColumns._

  private val reader =
    ParquetFileReader.open(HadoopInputFile.fromStatus(file, conf), HadoopReadOptions.builder(conf).build())
  private val schema = reader.getFileMetaData.getSchema

  /**
   * Some of its columns.
   *
   * @param columns texts, whole numbers, booleans, maps of texts, and structs of these, found by their names
   * @return None if the file stores one of them in a way that is left to Spark's reader
   */
  def find(columns: StructType): Option[Found] = StoredColumn.row(columns, schema).map(new Found(_))

  final class Found private[ParquetColumns] (row: StoredColumn.Struct) {
    private val requested = new MessageType(schema.getName, row.types.asJava)

    /** Their number; 0 if the file has none of the columns. */
    val rowGroups: Int = if (row.types.isEmpty) 0 else reader.getRowGroups.size

    /** Calls `use` with each row of a row group, counted from 0. */
    def foreach(rowGroup: Int)(use: InternalRow => Unit): Unit = read(rowGroup) { (values, rows) =>
      var left = rows
      while (left > 0) {
        use(values.fields())
        left -= 1
      }
    }

    /** Calls `use` with some rows of a row group. Of the others, no value is made. */
    def foreach(rowGroup: Int, some: BitSet)(use: InternalRow => Unit): Unit =
      if (some.nonEmpty) read(rowGroup) { (values, rows) =>
        var row = 0
        while (row < rows) {
          if (some(row)) use(values.fields()) else values.skip()
          row += 1
        }
      }

    /** The rows of a row group that pass a test. */
    def where(rowGroup: Int)(test: InternalRow => Boolean): BitSet = {
      val passed = mutable.BitSet.empty
      var row = 0
      foreach(rowGroup) { values =>
        if (test(values)) passed += row
        row += 1
      }
      passed
    }

    private def read(rowGroup: Int)(use: (StoredColumn.StructValues, Long) => Unit): Unit = {
      reader.setRequestedSchema(requested)
      // The library takes one without rows for damage.
      if (reader.getRowGroups.get(rowGroup).getRowCount > 0)
        Option(reader.readRowGroup(rowGroup)).foreach { pages =>
          try {
            val createdBy = reader.getFileMetaData.getCreatedBy
            val store = new ColumnReadStoreImpl(pages, new Nothing(requested), requested, createdBy)
            val values =
              row.open(path => store.getColumnReader(requested.getColumnDescription(path.toArray)))
            use(values, pages.getRowCount)
          } finally
            pages match {
              case closeable: AutoCloseable => closeable.close()
              case _ => ()
            }
        }
    }
  }

  override def close(): Unit = reader.close()
}

private object ParquetColumns {

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
