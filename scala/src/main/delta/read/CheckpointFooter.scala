package org.apache.spark.sql.delta.upkeep.read

import scala.jdk.CollectionConverters._
import scala.util.{Try, Using}
import scala.util.control.NonFatal

import io.deltaupkeep.{SideBySide, UnreadableInput}
import io.deltaupkeep.parquet.chunk.ChunkValues
import io.deltaupkeep.parquet.file.BloomFilterSpec
import io.deltaupkeep.plan.checkpoint.Fragment

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.parquet.HadoopReadOptions
import org.apache.parquet.column.statistics.LongStatistics
import org.apache.parquet.hadoop.{ParquetFileReader, ParquetOutputFormat}
import org.apache.parquet.hadoop.metadata.{BlockMetaData, ColumnChunkMetaData}
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.MessageType

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.upkeep.table.InputFailures

/** What is known about a checkpoint's Parquet file without reading its rows. */
private[upkeep] final class CheckpointFooter private (
    file: FileStatus,
    reader: ParquetFileReader,
    conf: Configuration
) {
  import CheckpointFooter._

  private val blocks = reader.getRowGroups.asScala.toIndexedSeq

  def schema: MessageType = reader.getFileMetaData.getSchema

  def keyValues: Map[String, String] = reader.getFileMetaData.getKeyValueMetaData.asScala.toMap

  def rows: Long = reader.getRecordCount

  /** The whole file as a fragment, before later commits are considered. */
  def whole: Fragment = fragment(blocks, None, file.getLen)

  /** The fragment with the total size of its files, as the file tells, or else by [[measured]]. */
  def summed(of: Fragment): Fragment =
    keyValues.get(AddBytes).filter(_ => of.rowGroup.isEmpty).flatMap(sum => Try(sum.toLong).toOption)
      .fold(measured(of))(sum => of.copy(addBytes = sum))

  /** The fragment with the total size of its files. Reads the column of the sizes. */
  def measured(of: Fragment): Fragment = of.copy(addBytes =
    chunks(blocksOf(of), AddSize).filter(values(_) > 0).map(valuesOf(_).sumLongs()).sum
  )

  def rowGroups: Seq[Fragment] = blocks.indices.map { i =>
    fragment(Seq(blocks(i)), Some(i), blocks(i).getColumns.asScala.map(_.getTotalSize).sum)
  }

  private def fragment(of: Seq[BlockMetaData], rowGroup: Option[Int], size: Long): Fragment =
    Fragment(
      file.getPath.getName,
      rowGroup,
      size,
      chunks(of, AddPath).map(values).sum,
      chunks(of, RemovePath).map(values).sum,
      isTouched = false
    )

  /** The number of values of a column. */
  def count(column: String): Long = chunks(blocks, column).map(values).sum

  /** Whether add actions have their statistics as JSON, as in the log. */
  def hasStatistics: Boolean = count(AddPath) == 0 || schema.containsPath(Stats)

  /** Whether there is a non-file action. */
  def hasOtherActions(fragment: Fragment): Boolean = hasOthers(blocksOf(fragment))

  private def hasOthers(of: Seq[BlockMetaData]): Boolean =
    OtherColumns.exists(chunks(of, _).exists(values(_) > 0))

  /** The row groups with such actions, counted from 0. */
  def rowGroupsOfOthers: Seq[Int] = blocks.indices.filter(i => hasOthers(Seq(blocks(i))))

  /** The row groups of a fragment, counted from 0. */
  def rowGroupsOf(fragment: Fragment): Seq[Int] = fragment.rowGroup.fold[Seq[Int]](blocks.indices)(Seq(_))

  /**
   * Whether a fragment names one of the files. Checks its Bloom filters, then the path columns. Files of other
   * writers have no Bloom filters and may spell paths differently, so such a path may name one of the files
   * too.
   *
   * @param canonical Delta's spelling of a path
   * @throws io.deltaupkeep.UnreadableInput when the file is damaged
   */
  def names(fragment: Fragment, paths: Set[String], canonical: String => String): Boolean = paths.nonEmpty &&
    PathColumns.exists { column =>
      chunks(blocksOf(fragment), column).filter(values(_) > 0).exists { chunk =>
        mayHold(chunk, paths) && valuesOf(chunk).existsString { path =>
          paths(path) || FilePaths.respelled(path, canonical) != path
        }
      }
    }

  private def mayHold(chunk: ColumnChunkMetaData, paths: Set[String]): Boolean = {
    val filter = reader.readBloomFilter(chunk)
    filter == null || paths.exists(path => filter.findHash(filter.hash(Binary.fromString(path))))
  }

  /** Not every writer counts nulls. */
  private def values(chunk: ColumnChunkMetaData): Long =
    if (chunk.getStatistics.isNumNullsSet) chunk.getValueCount - chunk.getStatistics.getNumNulls
    else valuesOf(chunk).count()

  private def valuesOf(chunk: ColumnChunkMetaData): ChunkValues = {
    val column = schema.getColumnDescription(chunk.getPath.toArray)
    new ChunkValues(HadoopInputFile.fromStatus(file, conf), column, chunk, conf)
  }

  /**
   * Whether it has tombstones, and only expired ones.
   *
   * @param unexpired milliseconds since the epoch: older tombstones have expired
   */
  def isExpired(fragment: Fragment, unexpired: Long): Boolean =
    fragment.removes > 0 &&
      chunks(blocksOf(fragment), "remove.deletionTimestamp").map(_.getStatistics).forall {
        case times: LongStatistics => !times.hasNonNullValue || times.getMax <= unexpired
        case _ => false
      }

  private def blocksOf(fragment: Fragment): Seq[BlockMetaData] =
    rowGroupsOf(fragment).map(blocks)
}

private[upkeep] object CheckpointFooter extends Logging {

  /** The key of the total size of the files that a sidecar adds, in its metadata. */
  val AddBytes = "io.deltaupkeep.addBytes"

  private val AddPath = "add.path"
  private val AddSize = "add.size"
  private val RemovePath = "remove.path"
  private val Stats = Array("add", "stats")

  /** The columns that name files. */
  private val PathColumns = Seq(AddPath, RemovePath)

  /** One column of each non-file action, which is never null in that action. */
  private val OtherColumns =
    Seq(
      "txn.appId",
      "metaData.id",
      "protocol.minReaderVersion",
      "domainMetadata.domain",
      "checkpointMetadata.version",
      "sidecar.path"
    )

  private val Threads = 8

  private val ParquetSettings = classOf[ParquetOutputFormat[_]].getFields.map(_.getName)

  /** Low enough that a thousand changed files seldom cause one in a hundred fragments. */
  private val FalsePositives = 1e-6

  /** parquet-java before 1.14 always writes the largest filter, unless it is given a number of values. */
  private val AreAdaptive = ParquetSettings.exists(_ == "ADAPTIVE_BLOOM_FILTER_ENABLED")

  /**
   * Settings that make parquet-java write Bloom filters, which take about five bytes for each file action.
   *
   * @param actions    largest number of actions in a row group
   * @param areAdaptive whether parquet-java sizes the filter by the values
   */
  def bloomFilters(actions: Long, areAdaptive: Boolean = AreAdaptive): Map[String, String] =
    PathColumns.flatMap { column =>
      Seq(
        s"parquet.bloom.filter.enabled#$column" -> "true",
        s"parquet.bloom.filter.candidates.number#$column" -> "10",
        s"parquet.bloom.filter.fpp#$column" -> FalsePositives.toString,
        // No filter is written for dictionary-encoded values.
        s"parquet.enable.dictionary#$column" -> "false"
      ) ++ Option.unless(areAdaptive) {
        s"parquet.bloom.filter.expected.ndv#$column" -> math.max(1, actions).toString
      }
    }.toMap ++ Map(
      // Several filter sizes are tried, and the smallest sufficient one is kept.
      "parquet.bloom.filter.adaptive.enabled" -> "true",
      "parquet.bloom.filter.max.bytes" -> maxFilterBytes(actions).toString
    )

  /** The same for our own writer. */
  def bloomFilterSpecs(actions: Long): Seq[BloomFilterSpec] =
    PathColumns.map(BloomFilterSpec(_, FalsePositives, maxFilterBytes(actions)))

  private def maxFilterBytes(actions: Long): Int =
    math.min(math.max(actions * 8, 512L << 10), 64L << 20).toInt

  /**
   * Reads the footer of a file.
   *
   * @throws java.io.FileNotFoundException the file is missing
   */
  def read[T](file: FileStatus, conf: Configuration)(look: CheckpointFooter => T): T = {
    val options = HadoopReadOptions.builder(conf).build()
    Using.resource(ParquetFileReader.open(HadoopInputFile.fromStatus(file, conf), options)) { reader =>
      look(new CheckpointFooter(file, reader, conf))
    }
  }

  /**
   * Whether a file is undamaged and passes a check. If the store fails to return it, it may be whole: that is an
   * error.
   */
  def isWhole(file: FileStatus, conf: Configuration)(isRight: CheckpointFooter => Boolean): Boolean =
    try read(file, conf)(isRight)
    catch {
      case NonFatal(e) if InputFailures.damageOfLog(e).isDefined =>
        logWarning(s"${file.getPath} is damaged and will be replaced", e)
        false
    }

  /**
   * Reads the footers of several files, a few at a time.
   *
   * @throws io.deltaupkeep.UnreadableInput one of them is missing or damaged
   */
  def readAll[T](files: Seq[FileStatus], conf: Configuration)(look: CheckpointFooter => T): Seq[T] =
    SideBySide.map(files, "delta-upkeep-footers", Threads) { file =>
      UnreadableInput.naming(file.getPath.toString)(read(file, conf)(look))
    }

  /**
   * Reads the pages of files, and verifies the checksums of those that have one.
   *
   * @throws org.apache.parquet.io.ParquetDecodingException a page is not as it was written
   */
  def verifyPages(files: Seq[FileStatus], conf: Configuration): Unit = {
    val options = HadoopReadOptions.builder(conf).usePageChecksumVerification(true).build()
    // One row group is in memory at a time.
    files.foreach { file =>
      Using.resource(ParquetFileReader.open(HadoopInputFile.fromStatus(file, conf), options)) { reader =>
        Iterator.continually(reader.readNextRowGroup()).takeWhile(_ != null).foreach {
          case pages: AutoCloseable => pages.close()
          case _ => ()
        }
      }
    }
  }

  private def chunks(of: Seq[BlockMetaData], column: String): Seq[ColumnChunkMetaData] =
    of.flatMap(_.getColumns.asScala).filter(_.getPath.toDotString == column)
}
