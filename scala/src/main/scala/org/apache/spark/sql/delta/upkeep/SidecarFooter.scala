package org.apache.spark.sql.delta.upkeep

import scala.jdk.CollectionConverters._
import scala.util.Using

import io.deltaupkeep.checkpoint.Sidecar

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus
import org.apache.parquet.HadoopReadOptions
import org.apache.parquet.column.statistics.LongStatistics
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData
import org.apache.parquet.hadoop.util.HadoopInputFile
import org.apache.parquet.io.api.Binary

/** What a sidecar tells without its data being read. */
private[upkeep] final class SidecarFooter private (file: FileStatus, reader: ParquetFileReader) {
  import SidecarFooter._

  private def chunks(column: String): Seq[ColumnChunkMetaData] =
    reader.getRowGroups.asScala.toSeq.flatMap(_.getColumns.asScala).filter(_.getPath.toDotString == column)

  private val adds = chunks(AddPath).map(values).sum
  private val removes = chunks(RemovePath).map(values).sum

  /** The sidecar, with nothing known of later commits. */
  def sidecar: Sidecar = Sidecar(file.getPath.getName, file.getLen, adds, removes, isTouched = false)

  /** Whether add actions have their statistics as the log has them. */
  private def hasStatistics: Boolean = adds == 0 || chunks("add.stats").nonEmpty

  /**
   * The sidecar as a base, None if its adds lack statistics.
   *
   * @param paths     of files that later commits name
   * @param unexpired milliseconds since the epoch: tombstones that are not younger may go
   */
  def base(paths: Iterable[String], unexpired: Long): Option[Sidecar] = Option.when(hasStatistics) {
    val isTouched = (paths.nonEmpty && PathColumns.exists(mayHold(_, paths))) || allExpired(unexpired)
    sidecar.copy(isTouched = isTouched)
  }

  private def mayHold(column: String, paths: Iterable[String]): Boolean =
    chunks(column).filter(values(_) > 0).exists { chunk =>
      val filter = reader.readBloomFilter(chunk)
      filter == null || paths.exists(path => filter.findHash(filter.hash(Binary.fromString(path))))
    }

  private def allExpired(unexpired: Long): Boolean =
    removes > 0 && chunks("remove.deletionTimestamp").map(_.getStatistics).forall {
      case times: LongStatistics => !times.hasNonNullValue || times.getMax <= unexpired
      case _ => false
    }
}

private[upkeep] object SidecarFooter {

  private val AddPath = "add.path"
  private val RemovePath = "remove.path"

  /** The columns that name files. */
  private val PathColumns = Seq(AddPath, RemovePath)

  /** So few that a thousand changed files seldom meet one in a hundred sidecars. */
  private val FalsePositives = 1e-6

  /** Settings that make parquet-java write Bloom filters, about five bytes for each action of a sidecar. */
  def bloomFilters(adds: Long, removes: Long): Map[String, String] =
    Seq(AddPath -> adds, RemovePath -> removes).flatMap { case (column, actions) =>
      Seq(
        s"parquet.bloom.filter.enabled#$column" -> "true",
        s"parquet.bloom.filter.expected.ndv#$column" -> math.max(1, actions).toString,
        s"parquet.bloom.filter.fpp#$column" -> FalsePositives.toString,
        // None is written for values in a dictionary.
        s"parquet.enable.dictionary#$column" -> "false"
      )
    }.toMap

  /**
   * Looks at the footer of a sidecar.
   *
   * @throws java.io.FileNotFoundException the sidecar is missing
   */
  def read[T](file: FileStatus, conf: Configuration)(look: SidecarFooter => T): T = {
    val options = HadoopReadOptions.builder(conf).build()
    Using.resource(ParquetFileReader.open(HadoopInputFile.fromStatus(file, conf), options)) { reader =>
      look(new SidecarFooter(file, reader))
    }
  }

  private def values(chunk: ColumnChunkMetaData): Long =
    chunk.getValueCount - math.max(0, chunk.getStatistics.getNumNulls)
}
