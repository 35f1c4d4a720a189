package org.apache.spark.sql.delta.upkeep.spark

import java.util.{Collections, Locale, PrimitiveIterator}
import java.util.stream.IntStream

import scala.collection.immutable.BitSet
import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.ParquetReadOptions
import org.apache.parquet.column.page.PageReadStore
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.api.InitContext
import org.apache.parquet.hadoop.metadata.{BlockMetaData, ColumnChunkMetaData}
import org.apache.parquet.internal.column.columnindex.OffsetIndex
import org.apache.parquet.internal.filter2.columnindex.RowRanges
import org.apache.parquet.io.{ColumnIOFactory, InputFile}
import org.apache.parquet.io.api.RecordMaterializer
import org.apache.parquet.schema.{GroupType, MessageType, Type}

import org.apache.spark.internal.config.ConfigEntry
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{DateTimeUtils, ResolveDefaultColumns}
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumnsUtils.EXISTS_DEFAULT_COLUMN_METADATA_KEY
import org.apache.spark.sql.execution.datasources.DataSourceUtils
import org.apache.spark.sql.execution.datasources.parquet.{ParquetReadSupport, ParquetUtils}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, MetadataBuilder, StructField, StructType}

/**
 * How Spark reads Parquet files of a table: with case-insensitive names, as in Delta.
 *
 * @param schema   of the rows, by physical names
 * @param settings for the reader, as Spark gives them to tasks
 * @param defaults of the columns, or null: the value of each that a file lacks
 * @param timeZone of INT96 timestamps from writers other than parquet-java, if they are shifted
 */
private[upkeep] final case class ParquetReading(
    schema: StructType,
    defaults: IndexedSeq[Any],
    settings: Map[String, String],
    rebaseMode: String,
    int96RebaseMode: String,
    timeZone: Option[String]
) {

  def configured(conf: Configuration): Configuration = {
    val own = new Configuration(conf)
    settings.foreach { case (key, value) => own.set(key, value) }
    own.set(ParquetReadSupport.SPARK_ROW_REQUESTED_SCHEMA, withoutDefaults.json)
    own
  }

  /** For columns that a file lacks, Spark's row-based reader may supply the defaults of other columns. */
  private def withoutDefaults: StructType = StructType(schema.map { field =>
    val metadata =
      new MetadataBuilder().withMetadata(field.metadata).remove(EXISTS_DEFAULT_COLUMN_METADATA_KEY)
    field.copy(metadata = metadata.build())
  })

  /** The positions of columns that a file lacks. Empty if it lacks the ids that it needs: Spark refuses it. */
  def lackedBy(file: MessageType): BitSet =
    if (byId && ParquetUtils.hasFieldIds(schema) && !ParquetReadSupport.containsFieldIds(file)) BitSet.empty
    else BitSet(heldBy(file).zipWithIndex.collect { case (false, column) => column }: _*)

  /**
   * A column that a file has, but none of its fields. Spark's row-based reader drops such a column, and then supplies
   * the defaults of other columns in place of stored values.
   */
  def droppedBy(file: MessageType): Option[String] = {
    // The groups of lists and maps have other names in files of other writers.
    def within(stored: Type): Seq[Type] =
      if (stored.isPrimitive) Nil
      else stored.asGroupType.getFields.asScala.flatMap(inner => inner +: within(inner)).toSeq
    def shares(dataType: DataType, stored: Type): Boolean = dataType match {
      case struct: StructType =>
        !stored.isPrimitive && {
          val find = finderIn(stored.asGroupType)
          struct.exists(field => find(field).exists(shares(field.dataType, _)))
        }
      case ArrayType(element, _) => (stored +: within(stored)).exists(shares(element, _))
      case MapType(key, _, _) => isWhole(key) || within(stored).exists(shares(key, _))
      case _ => true
    }
    def isWhole(dataType: DataType): Boolean = dataType match {
      case _: StructType | _: ArrayType | _: MapType => false
      case _ => true
    }
    val find = finderIn(file)
    schema.find(column => find(column).exists(!shares(column.dataType, _))).map(_.name)
  }

  private def byId: Boolean = settings(SQLConf.PARQUET_FIELD_ID_READ_ENABLED.key).toBoolean

  /** Whether a file has each of the columns. */
  private[spark] def heldBy(file: GroupType): IndexedSeq[Boolean] = {
    val find = finderIn(file)
    schema.map(find(_).isDefined).toIndexedSeq
  }

  /** Finds fields of the table in a group of a file, whose names are looked at once. */
  private def finderIn(group: GroupType): StructField => Option[Type] = {
    def lowered(name: String) = name.toLowerCase(Locale.ROOT)
    // The first one of a name or an id counts.
    val fields = group.getFields.asScala.reverse
    val byIds = fields.filter(_.getId != null).map(field => field.getId.intValue -> field).toMap
    val byNames = fields.map(field => lowered(field.getName) -> field).toMap
    field =>
      if (byId && ParquetUtils.hasFieldId(field)) byIds.get(ParquetUtils.getFieldId(field))
      else byNames.get(lowered(field.name))
  }

  /** Runs code of Spark's reader that looks up session settings. */
  def withSettings[T](body: => T): T = {
    val own = new SQLConf
    settings.foreach { case (key, value) => own.setConfString(key, value) }
    SQLConf.withExistingConf(own)(body)
  }
}

private[upkeep] object ParquetReading {

  /** @param byId whether columns are found by their field ids */
  def of(schema: StructType, conf: SQLConf, byId: Boolean): ParquetReading = {
    val ofReader = for {
      key <- Settings if ConfigEntry.findEntry(key) != null
      value <- Option(conf.getConfString(key))
    } yield key -> value
    ParquetReading(
      schema,
      ResolveDefaultColumns.existenceDefaultValues(schema).toIndexedSeq,
      ofReader.toMap ++ Map(
        SQLConf.CASE_SENSITIVE.key -> "false",
        SQLConf.PARQUET_FIELD_ID_READ_ENABLED.key -> byId.toString
      ) ++
        // A file may be older than the column mapping of its table. By id, its values would be nulls.
        Map(SQLConf.IGNORE_MISSING_PARQUET_FIELD_ID.key -> (!byId).toString),
      conf.getConf(SQLConf.PARQUET_REBASE_MODE_IN_READ).toString,
      conf.getConf(SQLConf.PARQUET_INT96_REBASE_MODE_IN_READ).toString,
      Option.when(conf.isParquetINT96TimestampConversion)(conf.sessionLocalTimeZone)
    )
  }

  /** What Spark's file format passes on to its reader; the last three exist in newer versions only. */
  private val Settings = Seq(
    SQLConf.NESTED_SCHEMA_PRUNING_ENABLED.key,
    SQLConf.PARQUET_BINARY_AS_STRING.key,
    SQLConf.PARQUET_INT96_AS_TIMESTAMP.key,
    SQLConf.PARQUET_INFER_TIMESTAMP_NTZ_ENABLED.key,
    SQLConf.LEGACY_PARQUET_NANOS_AS_LONG.key,
    SQLConf.IGNORE_MISSING_PARQUET_FIELD_ID.key,
    "spark.sql.legacy.parquet.returnNullStructIfAllFieldsMissing",
    "spark.sql.parquet.ignoreVariantAnnotation",
    "spark.sql.parquet.reader.respectUnknownTypeAnnotation.enabled"
  )
}

/** Rows of a Parquet file by their positions, as Spark's reader makes them. Reads only the pages that hold them. */
private[upkeep] final class ParquetRows(
    file: InputFile,
    reading: ParquetReading,
    conf: Configuration,
    options: ParquetReadOptions
) extends AutoCloseable {

  private val reader = ParquetFileReader.open(file, options)
  private val meta = reader.getFooter.getFileMetaData
  private val keyValues = meta.getKeyValueMetaData
  private val support = {
    val isForeign = !Option(meta.getCreatedBy).exists(_.startsWith("parquet-mr"))
    new ParquetReadSupport(
      reading.timeZone.filter(_ => isForeign).map(DateTimeUtils.getZoneId),
      enableVectorizedReader = false,
      DataSourceUtils.datetimeRebaseSpec(keyValues.get, reading.rebaseMode),
      DataSourceUtils.int96RebaseSpec(keyValues.get, reading.int96RebaseMode)
    )
  }
  private val context = {
    val sets = keyValues.asScala.map { case (key, value) => key -> Collections.singleton(value) }.toMap
    reading.withSettings(support.init(new InitContext(conf, sets.asJava, meta.getSchema)))
  }

  /** The columns that are read. */
  val requested: MessageType = context.getRequestedSchema
  reader.setRequestedSchema(requested)

  val rowGroups: IndexedSeq[BlockMetaData] = reader.getRowGroups.asScala.toIndexedSeq

  /** The first row of each row group, and the number of all rows. */
  private val starts = rowGroups.scanLeft(0L)(_ + _.getRowCount)

  /** The row group of a row, and its position there. */
  def placeOf(row: Long): (Int, Long) = {
    val group = starts.lastIndexWhere(_ <= row, rowGroups.size - 1)
    (group, row - starts(group))
  }

  private val wanted = requested.getColumns.asScala.map(_.getPath.toSeq).toSet

  private def columns(group: Int): Seq[ColumnChunkMetaData] =
    rowGroups(group).getColumns.asScala.filter(chunk => wanted(chunk.getPath.toArray.toSeq)).toSeq

  /** Whether pages of a row group are found by rows. */
  def hasPageIndex(group: Int): Boolean = columns(group).forall(_.getOffsetIndexReference != null)

  /** Stored size of the row group's columns, in bytes. */
  def bytesOf(group: Int): Long = columns(group).map(_.getTotalSize).sum

  /**
   * The values of some rows of a row group, row by row.
   *
   * @param watchOf is shown the values of a column as Parquet stores them
   */
  def read(
      group: Int,
      from: Long,
      count: Int,
      watchOf: Option[Seq[String] => ValueWatch] = None
  ): Seq[Array[Any]] = reading.withSettings {
    val isIndexed = hasPageIndex(group) && requested.getFieldCount > 0
    val pages: PageReadStore =
      if (isIndexed) reader.readFilteredRowGroup(group, ParquetRows.ranges(from, count))
      else reader.readRowGroup(group)
    try {
      val rows = materializer
      val watched = watchOf.fold(rows)(new WatchedValues(rows, requested, _))
      val records = new ColumnIOFactory(meta.getCreatedBy)
        .getColumnIO(requested, meta.getSchema)
        .getRecordReader(pages, watched)
      if (!isIndexed) (0L until from).foreach(_ => records.read())
      Vector.fill(count)(valuesOf(records.read()))
    } finally
      pages match {
        case closeable: AutoCloseable => closeable.close()
        case _ => ()
      }
  }

  private def materializer: RecordMaterializer[InternalRow] =
    support.prepareForRead(conf, keyValues, meta.getSchema, context)

  private val fields = reading.schema.fields
  private val isStored = reading.heldBy(requested)

  private def valuesOf(row: InternalRow): Array[Any] =
    Array.tabulate[Any](fields.length) { i =>
      if (!isStored(i)) reading.defaults(i)
      else if (row.isNullAt(i)) null
      else InternalRow.copyValue(row.get(i, fields(i).dataType))
    }

  /** The bounds of the columns in a row group, and in its pages that hold the rows. */
  def boundsOf(group: Int, from: Long, count: Int): Map[Seq[String], ChunkBounds] =
    columns(group).map { chunk =>
      val ofPages = for {
        index <- Option(reader.readColumnIndex(chunk))
        offsets <- Option(reader.readOffsetIndex(chunk))
      } yield {
        val pages = (0 until offsets.getPageCount).filter { page =>
          offsets.getFirstRowIndex(page) < from + count &&
          offsets.getLastRowIndex(page, rowGroups(group).getRowCount) >= from
        }
        pages.filterNot(index.getNullPages.get(_)).map { page =>
          Statistics
            .getBuilderForReading(chunk.getPrimitiveType)
            .withMin(ParquetRows.bytes(index.getMinValues.get(page)))
            .withMax(ParquetRows.bytes(index.getMaxValues.get(page)))
            .build()
        }
      }
      chunk.getPath.toArray.toSeq -> ChunkBounds(Option(chunk.getStatistics), ofPages)
    }.toMap

  override def close(): Unit = reader.close()
}

private object ParquetRows {

  /** Rows of a row group, which parquet-java takes as if they were a page. */
  private def ranges(from: Long, count: Int): RowRanges = {
    val page: PrimitiveIterator.OfInt = IntStream.of(0).iterator()
    RowRanges.create(
      from + count,
      page,
      new OffsetIndex {
        override def getPageCount: Int = 1
        override def getOffset(pageIndex: Int): Long = 0
        override def getCompressedPageSize(pageIndex: Int): Int = 0
        override def getFirstRowIndex(pageIndex: Int): Long = from
        override def getPageOrdinal(pageIndex: Int): Int = 0
      }
    )
  }

  private def bytes(buffer: java.nio.ByteBuffer): Array[Byte] = {
    val copy = new Array[Byte](buffer.remaining)
    buffer.duplicate().get(copy)
    copy
  }
}
