package org.apache.spark.sql.delta.upkeep.splice

import io.deltaupkeep.UpkeepConf
import io.deltaupkeep.parquet.encoding.Compression
import io.deltaupkeep.parquet.gather.{Division, GatherOrder}
import io.deltaupkeep.parquet.page.PageLayout
import io.deltaupkeep.parquet.plan.{ColumnName, LackingFields, SpliceSettings}
import io.deltaupkeep.plan.compact.BinSplit
import io.deltaupkeep.stats.{FooterStats, MergedStats, RewriteCheck, SparkCalendar, WidenedTypes}

import org.apache.hadoop.fs.Path
import org.apache.parquet.column.ParquetProperties
import org.apache.parquet.hadoop.{ParquetOutputFormat, ParquetWriter}
import org.apache.parquet.hadoop.metadata.{CompressionCodecName, ParquetMetadata}

import org.apache.spark.SPARK_VERSION_SHORT
import org.apache.spark.sql.{SPARK_VERSION_METADATA_KEY, SparkSession}
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumnsUtils.EXISTS_DEFAULT_COLUMN_METADATA_KEY
import org.apache.spark.sql.delta.{IcebergCompat, IdMapping, Snapshot}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.upkeep.spark.ParquetReading
import org.apache.spark.sql.delta.upkeep.table.{Partitions, PhysicalSchema}
import org.apache.spark.sql.delta.upkeep.versions.{DeltaApi, FooterCollector, NewFile}
import org.apache.spark.sql.delta.util.Utils
import org.apache.spark.sql.execution.datasources.parquet.{ParquetOptions, ParquetReadSupport}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DateType, StructField, StructType, TimestampType}

/**
 * Splices bins of a Delta table: decides where the new file goes, and makes the action that adds it.
 *
 * @param target      target size of new files in bytes, which is stored in their tag
 * @param compression of new files, and of pages with another codec; None to compress new pages as Spark would
 */
private[upkeep] final class TableSplice(
    session: SparkSession,
    snapshot: Snapshot,
    target: Long,
    compression: Option[Compression]
) {

  private val root = snapshot.deltaLog.dataPath
  private val metadata = snapshot.metadata
  private val sqlConf = session.sessionState.conf
  private val timeZone = sqlConf.sessionLocalTimeZone
  private val hadoopConf =
    session.sessionState.newHadoopConfWithOptions(
      metadata.configuration ++ snapshot.deltaLog.options ++
        compression.fold(Map.empty[String, String])(_.hadoopSettings)
    )
  private val dataSchema: StructType = physicalSchema(snapshot.dataSchema)
  private val tracked = new TrackedRows(snapshot)
  private val partitions = new Partitions(metadata)

  /** Partition columns that the table stores in its files; Delta's writer puts them last. */
  private val storedPartitions: Seq[StructField] =
    if (storesPartitions) physicalSchema(metadata.schema).filter(f => isPartition(f.name)) else Nil
  private val fileSchema: StructType = StructType(dataSchema ++ storedPartitions ++ tracked.columns)
  private val writing = new FileWriting(session, snapshot, fileSchema, hadoopConf)
  private val mergedStats = new MergedStats(dataSchema)

  /** Compares new files with their inputs. */
  val check: RewriteCheck = new RewriteCheck(
    dataSchema,
    byId = metadata.columnMappingMode == IdMapping,
    filled = tracked.columns.map(_.name).toSet,
    constant = storedPartitions.map(_.name).toSet
  )

  /** Delta's writer makes every column nullable too. */
  private def physicalSchema(logical: StructType): StructType =
    PhysicalSchema.of(logical.asNullable, metadata)

  private def isPartition(physicalName: String): Boolean =
    metadata.physicalPartitionSchema.fieldNames.contains(physicalName)

  /** Not every Delta has a name for this feature. */
  private def storesPartitions: Boolean =
    DeltaApi.current.storesPartitions(metadata) || IcebergCompat.isAnyEnabled(metadata) ||
      snapshot.protocol.readerAndWriterFeatureNames.contains("materializePartitionColumns")

  def job(description: String): SpliceJob = new SpliceJob(
    session.sparkContext,
    description,
    hadoopConf,
    settings,
    writing.schema,
    Map(
      SPARK_VERSION_METADATA_KEY -> SPARK_VERSION_SHORT,
      ParquetReadSupport.SPARK_METADATA_KEY -> fileSchema.json
    ),
    new SparkCalendar(rebaseModes).problemOf,
    statsOf,
    spotCheck
  )

  /** Stored partition columns get their value from the log, whatever the inputs hold. */
  private def spotCheck: Option[SpotCheck] = {
    val inputs = sqlConf.getConf(UpkeepConf.OptimizeSpotCheck)
    Option.when(inputs >= 0) {
      val schema = StructType(dataSchema ++ tracked.columns)
      new SparkSpotCheck(
        ParquetReading.of(schema, sqlConf, byId = metadata.columnMappingMode == IdMapping),
        inputs,
        sqlConf.getConf(UpkeepConf.OptimizeBytesInFlight) / 4
      )
    }
  }

  /** How dates and timestamps are read from files that do not name a version of Spark. */
  private def rebaseModes: Set[String] = {
    val ofTimestamps = Option.when(dataSchema.existsRecursively(_ == TimestampType))(
      SQLConf.PARQUET_INT96_REBASE_MODE_IN_READ
    )
    val hasDates = dataSchema.existsRecursively(kind => kind == DateType || kind == TimestampType) ||
      WidenedTypes.anyFrom(dataSchema, "date")
    val ofBoth = Option.when(hasDates)(SQLConf.PARQUET_REBASE_MODE_IN_READ)
    (ofTimestamps ++ ofBoth).map(sqlConf.getConf(_).toString).toSet
  }

  def task(index: Int, files: Seq[AddFile], split: BinSplit, order: Option[GatherOrder]): SpliceTask =
    SpliceTask(
      index,
      files.map(inputOf),
      new Path(root, directoryOf(files.head)).toString,
      split,
      writing.plain(storedPartitions.map(c => c.name -> partitions.valueOf(files.head, c, timeZone)).toMap),
      order,
      order.flatMap(_ => Division.of(files.map(_.size).sum, gatherBytes))
    )

  /** What the log says about the rows of files. */
  def statsOf(inputs: Seq[AddFile]): MergedStats.Result =
    mergedStats.of(inputs.map(_.stats), inputs.map(_.numDeletedRecords).sum)

  /**
   * The action for a new file of a bin, with statistics from its inputs or from its own footer.
   *
   * @param input any file of the bin: all have the same partition values
   */
  def addFile(task: SpliceTask, file: SplicedFile, input: AddFile, stats: MergedStats.Result): AddFile = {
    val path = new Path(new Path(task.directory), file.name)
    val add = NewFile(
      relative(path),
      partitions.spelled(input),
      file.size,
      file.modificationTime,
      tags = targetTag(task) ++ icebergTag
    )
    def ofFooter = file.stats.map(FooterStats(_, file.leaves))
    val json = if (task.order.isEmpty) stats.json(ofFooter) else Some(stats.jsonOfPart(file.rows, ofFooter))
    NewFile.changed(add)(stats = json.orNull)
  }

  /** Says that a file was compacted. One that was put in order says it in the tags of its layout. */
  private def targetTag(task: SpliceTask): Map[String, String] =
    if (task.order.isEmpty) Map(AddFile.Tags.OPTIMIZE_TARGET_SIZE.name -> target.toString) else Map.empty

  /** From version 2 on it says that a file need not be rewritten for Iceberg readers. */
  private def icebergTag: Option[(String, String)] =
    IcebergCompat.getEnabledVersion(metadata).filter(_ >= 2).map { version =>
      AddFile.Tags.ICEBERG_COMPAT_VERSION.name -> version.toString
    }

  private def relative(file: Path): String = root.toUri.relativize(file.toUri) match {
    case below if below.isAbsolute => file.toUri.toString
    case below => new Path(below.getPath).toUri.toString
  }

  /** Delta's statistics of a footer, if it collects some. */
  private def statsOf: Option[ParquetMetadata => String] =
    Option.when(sqlConf.getConf(DeltaSQLConf.DELTA_COLLECT_STATS))(FooterCollector.of(snapshot, sqlConf))

  private def inputOf(add: AddFile): SpliceInput =
    SpliceInput.of(root.toString, add.path, add.size, add.modificationTime)
      .copy(deletedRows = DeletionVector.of(add, root), fills = tracked.fills(add))

  /** Where Delta's writer would put a file of the same partition. */
  private def directoryOf(add: AddFile): String = {
    val below =
      Partitions.randomPrefixLength(metadata).fold(partitions.directoryOf(add))(Utils.getRandomPrefix(_))
    val parts = Option.when(sqlConf.getConf(DeltaSQLConf.WRITE_DATA_FILES_TO_SUBDIR))("data") ++
      Option.when(below.nonEmpty)(below)
    if (parts.isEmpty) "." else parts.mkString(Path.SEPARATOR)
  }

  private val gatherBytes = CurveOf.mostBytes(session)

  /** @param tasks of the job */
  private def settings(tasks: Int): SpliceSettings = {
    val rowGroup = hadoopConf.getLong(ParquetOutputFormat.BLOCK_SIZE, ParquetWriter.DEFAULT_BLOCK_SIZE.toLong)
    val inFlight = sqlConf.getConf(UpkeepConf.OptimizeBytesInFlight)
    SpliceSettings(
      rowGroupBytes = rowGroup,
      copyFromBytes = rowGroup / 4,
      bytesInFlight = inFlight,
      gatherBytes = gatherBytes,
      heldFileBytes = math.min(inFlight / 8, 64L << 20),
      fetches = sqlConf.getConf(UpkeepConf.OptimizeFetches),
      threads = threadsOf(tasks),
      codec = compression.fold(codecOfSession)(_.codec),
      layout = PageLayout.of(hadoopConf),
      bloomFilterBytes = hadoopConf.getInt(
        ParquetOutputFormat.BLOOM_FILTER_MAX_BYTES,
        ParquetProperties.DEFAULT_MAX_BLOOM_FILTER_BYTES
      ),
      maxPadding =
        hadoopConf.getInt(ParquetOutputFormat.MAX_PADDING_BYTES, ParquetWriter.MAX_PADDING_SIZE_DEFAULT),
      matchById = metadata.columnMappingMode == IdMapping,
      keepsForms = !IcebergCompat.isAnyEnabled(metadata),
      shiftsForeignInt96 = sqlConf.isParquetINT96TimestampConversion,
      lacking = LackingFields(
        dataSchema.fields.filter(_.metadata.contains(EXISTS_DEFAULT_COLUMN_METADATA_KEY)).map(field =>
          ColumnName(field.name)
        ).toSet,
        readsNullStructs
      ),
      recompresses = compression.nonEmpty
    )
  }

  private def codecOfSession: CompressionCodecName = CompressionCodecName.valueOf(
    new ParquetOptions(Map.empty[String, String], sqlConf).compressionCodecClassName
  )

  /** Before 4.1 Spark always did; since then there is a setting for it. */
  private def readsNullStructs: Boolean = {
    val key = "spark.sql.legacy.parquet.returnNullStructIfAllFieldsMissing"
    !session.conf.isModifiable(key) || sqlConf.getConfString(key).toBoolean
  }

  /**
   * Uses cores that would be idle: with fewer tasks than cores, each task gets its share of the cores of one
   * executor.
   */
  private def threadsOf(tasks: Int): Int = {
    val context = session.sparkContext
    val cores = context.defaultParallelism
    val ofOneExecutor = if (context.isLocal) cores else context.getConf.getInt("spark.executor.cores", 1)
    math.max(1, math.min(ofOneExecutor, cores / math.max(1, tasks)))
  }
}
