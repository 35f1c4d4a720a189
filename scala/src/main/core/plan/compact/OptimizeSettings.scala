package io.deltaupkeep.plan.compact

import java.util.Locale

import io.deltaupkeep.{OptionEntry, Options}
import io.deltaupkeep.parquet.encoding.Compression

import org.apache.parquet.hadoop.metadata.CompressionCodecName

/** Which bins come first if a run is limited. */
sealed trait BinOrder

object BinOrder {

  /** Those that remove the most files for each byte rewritten. */
  case object Gain extends BinOrder
  case object Largest extends BinOrder
  case object Smallest extends BinOrder

  /** By the time of the oldest file. */
  case object Oldest extends BinOrder

  /** By the time of the newest file. */
  case object Newest extends BinOrder
}

/**
 * How OPTIMIZE chooses and packs files, and how much one run rewrites.
 *
 * @param targetFileSize      bytes that a bin may hold, and so about the size of a new file
 * @param minFileSize         in bytes; smaller files are rewritten
 * @param maxDeletedRowsRatio a file with a larger share of deleted rows is rewritten
 * @param minInputFiles       a bin with fewer files is left alone until it has more
 * @param maxFiles            largest number of files that one run rewrites
 * @param maxBytes            largest number of bytes that one run rewrites
 * @param order               in which bins are taken until a limit is reached
 * @param maxBytesPerCommit   bytes rewritten per commit
 * @param verify              whether Spark reads inputs and new files and compares their rows before a commit
 * @param compression         of new files; None to follow the session
 * @param clusterBytes        bytes of files that one task puts in another order column by column
 * @param minOverlapDepth     how many Z-cubes overlap before they are merged
 * @param rewritesCodecs      whether files are also rewritten because they have another codec
 * @param done                files that the run has rewritten before
 */
final case class OptimizeSettings(
    targetFileSize: Long,
    minFileSize: Long,
    maxDeletedRowsRatio: Double,
    minInputFiles: Long = 2,
    maxFiles: Option[Long] = None,
    maxBytes: Option[Long] = None,
    order: BinOrder = BinOrder.Gain,
    maxBytesPerCommit: Long = OptimizeSettings.DefaultMaxBytesPerCommit,
    verify: Boolean = false,
    compression: Option[Compression] = None,
    clusterBytes: Long = Long.MaxValue,
    minOverlapDepth: Long = OptimizeSettings.DefaultMinOverlapDepth,
    rewritesCodecs: Boolean = false,
    done: FileSizes = FileSizes.of(Nil)
) {

  /** For the rest of a run that has rewritten some files; None if it may rewrite no more. */
  def after(rewritten: FileSizes): Option[OptimizeSettings] = {
    val isUsedUp = maxFiles.exists(_ <= rewritten.totalFiles) || maxBytes.exists(_ <= rewritten.totalSize)
    Option.when(!isUsedUp)(copy(done = rewritten))
  }
}

object OptimizeSettings {

  /** A lost driver loses the work on about this many bytes at most. */
  val DefaultMaxBytesPerCommit: Long = 64L << 30

  val DefaultMinOverlapDepth: Long = 2

  val TargetFileSize: OptionEntry[Long] = OptionEntry.bytes(
    "targetFileSize",
    "Target size of new files, in bytes. Default: the table property delta.targetFileSize, which Databricks " +
      "sets, then spark.databricks.delta.optimize.maxFileSize (1 GiB)."
  )
  val MinFileSize: OptionEntry[Long] = OptionEntry.bytes(
    "minFileSize",
    "Files with fewer bytes than this are rewritten. Default: the smaller of the target size and " +
      "spark.databricks.delta.optimize.minFileSize (1 GiB)."
  )
  val MaxDeletedRowsRatio: OptionEntry[Double] = OptionEntry.ratio(
    "maxDeletedRowsRatio",
    "Files with a larger share of deleted rows are rewritten. Default: " +
      "spark.databricks.delta.optimize.maxDeletedRowsRatio (0.05)."
  )
  val MinInputFiles: OptionEntry[Long] = OptionEntry.positive(
    "minInputFiles",
    "Smallest number of small files that are compacted together. Smaller groups are left alone unless they " +
      "fill a new file or have too many deleted rows. Default: 2."
  )
  val MaxFiles: OptionEntry[Long] =
    OptionEntry.positive("maxFiles", "Largest number of files that one run rewrites. Default: all.")
  val MaxBytes: OptionEntry[Long] =
    OptionEntry.bytes(
      "maxBytes",
      "Largest number of bytes that one run rewrites, or one file that is larger. Default: all."
    )
  val Order: OptionEntry[BinOrder] = OptionEntry.oneOf[BinOrder](
    "order",
    "Which bins come first if maxFiles or maxBytes limits a run. 'gain' prefers bins that remove the most " +
      "files for each byte rewritten; the other orders go by size or by time of writing. Default: gain."
  )(
    "gain" -> BinOrder.Gain,
    "largest" -> BinOrder.Largest,
    "smallest" -> BinOrder.Smallest,
    "oldest" -> BinOrder.Oldest,
    "newest" -> BinOrder.Newest
  )
  val MinOverlapDepth: OptionEntry[Long] = OptionEntry.positive(
    "minOverlapDepth",
    "For ZORDER BY, ORDER BY and clustering: how many groups of files that were put in order together have to overlap before " +
      "they are merged. With more, a query looks into more of them, and fewer bytes are rewritten. Default: 2."
  )
  val MaxBytesPerCommit: OptionEntry[Long] = OptionEntry.bytes(
    "maxBytesPerCommit",
    "Bytes rewritten per commit; a lost driver loses about that much work at most. Default: " +
      "spark.databricks.delta.optimize.batchSize, then 64 GiB."
  )
  val Verify: OptionEntry[Boolean] = OptionEntry.flag(
    "verify",
    "Before committing, read inputs and outputs with Spark and compare their rows. Default: " +
      "spark.deltaUpkeep.optimize.verify (false)."
  )

  val Codec: OptionEntry[CompressionCodecName] = OptionEntry.oneOf[CompressionCodecName](
    "codec",
    "Compression codec of new files. Files with another codec are rewritten too, page by page, whatever their " +
      "size. Default: for new pages the table property delta.parquet.compression.codec, then " +
      "spark.sql.parquet.compression.codec; files are not rewritten for their codec."
  )(
    "zstd" -> CompressionCodecName.ZSTD,
    "snappy" -> CompressionCodecName.SNAPPY,
    "gzip" -> CompressionCodecName.GZIP,
    "lz4_raw" -> CompressionCodecName.LZ4_RAW,
    "uncompressed" -> CompressionCodecName.UNCOMPRESSED
  )

  /** The codec of a table's property (protocol, 'Table Properties'); None if it is not one that Spark writes. */
  def codecOf(property: String): Option[CompressionCodecName] = property.trim.toLowerCase(Locale.ROOT) match {
    case "none" => Some(CompressionCodecName.UNCOMPRESSED)
    case "lz4" => Some(CompressionCodecName.LZ4)
    case other => Codec.read(other)
  }

  val Level: OptionEntry[Int] = OptionEntry[Int](
    "level",
    "Compression level of new pages. Files do not record it, so a file is not rewritten for its level. Default: the " +
      "session's setting, or the codec's own default.",
    "a whole number: 1 to 22 with codec 'zstd', 1 to 9 with 'gzip', and none with another codec"
  )(_.toIntOption)

  val entries: Seq[OptionEntry[_]] = Seq(
    TargetFileSize,
    MinFileSize,
    MaxDeletedRowsRatio,
    MinInputFiles,
    MaxFiles,
    MaxBytes,
    Order,
    MinOverlapDepth,
    MaxBytesPerCommit,
    Verify,
    Codec,
    Level
  )

  /** The user's options, which take precedence over the table's properties and the session's settings. */
  def apply(options: Options, defaults: OptimizeSettings): OptimizeSettings = {
    val target = options.get(TargetFileSize).getOrElse(defaults.targetFileSize)
    OptimizeSettings(
      target,
      options.get(MinFileSize).getOrElse(math.min(target, defaults.minFileSize)),
      options.get(MaxDeletedRowsRatio).getOrElse(defaults.maxDeletedRowsRatio),
      options.get(MinInputFiles).getOrElse(defaults.minInputFiles),
      options.get(MaxFiles).orElse(defaults.maxFiles),
      options.get(MaxBytes).orElse(defaults.maxBytes),
      options.get(Order).getOrElse(defaults.order),
      options.get(MaxBytesPerCommit).getOrElse(defaults.maxBytesPerCommit),
      options.get(Verify).getOrElse(defaults.verify),
      compressionOf(options, defaults),
      defaults.clusterBytes,
      options.get(MinOverlapDepth).getOrElse(defaults.minOverlapDepth),
      rewritesCodecs = options.get(Codec).nonEmpty
    )
  }

  private def compressionOf(options: Options, defaults: OptimizeSettings): Option[Compression] = {
    val codec = options.get(Codec).map(Compression(_)).orElse(defaults.compression)
    options.get(Level) match {
      case None => codec
      case Some(level) =>
        codec
          .filter(chosen => Compression.levelsOf(chosen.codec).contains(level))
          .map(_.copy(level = Some(level)))
          .orElse(throw options.invalid(Level, level.toString))
    }
  }
}
