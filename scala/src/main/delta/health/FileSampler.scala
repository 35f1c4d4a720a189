package org.apache.spark.sql.delta.upkeep.health

import scala.util.{Failure, Success, Try}

import io.deltaupkeep.{SideBySide, UnreadableInput}
import io.deltaupkeep.health.{CodecSample, FooterSample}
import io.deltaupkeep.parquet.encoding.Compression
import io.deltaupkeep.parquet.file.PageSampler
import io.deltaupkeep.parquet.footer.FileShape
import io.deltaupkeep.plan.cluster.SampledRowGroup
import io.deltaupkeep.plan.compact.DataFile

import org.apache.parquet.hadoop.metadata.CompressionCodecName

import org.apache.spark.sql.delta.upkeep.optimize.OptimizeDefaults
import org.apache.spark.sql.delta.upkeep.splice.{HadoopInput, SpliceInput}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.FooterCollector

/** Reads the footers, and a few pages, of a few files, spread evenly over time. */
final class FileSampler(handle: DeltaHandle, files: Seq[DataFile]) {
  import FileSampler._

  private val conf = handle.hadoopConf

  def footers: FooterSample = {
    val shapes = SideBySide.map(chosen(MostFiles), "delta-upkeep-footers", Threads) { file =>
      Try(FileShape.of(inputOf(file)).map(shape => shape -> file.physicalRows.exists(_ != shape.rows)))
    }
    val (read, areMiscounted) = shapes.collect { case Success(shape) => shape }.flatten.unzip
    val problems = shapes.collect {
      case Failure(unreadable: UnreadableInput) => unreadable.getMessage
      case Failure(other) => throw other
    }
    FooterSample(
      shapes.size,
      read.flatMap(_.rowGroups),
      read.map(_.footerBytes).sum,
      areMiscounted.count(identity).toLong,
      problems
    )
  }

  /** With the statistics that Delta would collect of each; files that cannot be read have none. */
  def rowGroups: Seq[SampledRowGroup] = {
    val statsOf = FooterCollector.of(handle.snapshot, handle.session.sessionState.conf)
    val files = SideBySide.map(chosen(MostFiles), "delta-upkeep-footers", Threads) { file =>
      try FileShape.rowGroupsOf(inputOf(file)).take(MostRowGroups).map(group =>
          group.bytes -> statsOf(group.footer)
        )
      catch { case _: UnreadableInput => Nil } // which the sample of footers tells
    }
    for ((file, number) <- files.zipWithIndex; (bytes, stats) <- file)
      yield SampledRowGroup(number, bytes, stats)
  }

  /** Files that only a reader of rows can judge are left out. */
  def codecs: CodecSample = {
    val read = SideBySide.map(chosen(MostFilesWithPages), "delta-upkeep-codecs", Threads) { file =>
      Try(new PageSampler(conf).sizes(inputOf(file)))
    }
    val samples = read.collect { case Success(Right(sizes)) if sizes.stored > 0 => sizes }
    val problems = read.collect {
      case Success(Left(refusal)) if refusal.isMalformed => refusal.reason
      case Failure(unreadable: UnreadableInput) => unreadable.getMessage
      case Failure(other) => throw other
    }
    def named(codec: CompressionCodecName) = Compression(codec).codecName
    CodecSample(
      samples.size,
      samples.map(_.stored).sum,
      samples.flatMap(_.byCodec).groupMapReduce(size => named(size._1))(_._2)(_ + _),
      samples.flatMap(_.found).map(named).toSet,
      OptimizeDefaults.compressionOf(handle).map(_.codecName),
      problems
    )
  }

  private lazy val byTime = files.sortBy(file => (file.modificationTime, file.path)).toIndexedSeq

  private def chosen(most: Int): Seq[DataFile] = {
    val count = math.min(byTime.size, most)
    (0 until count).map(i => byTime((i.toLong * byTime.size / count).toInt))
  }

  private def inputOf(file: DataFile): HadoopInput = new HadoopInput(
    SpliceInput.of(handle.path, file.path, file.sizeInBytes, file.modificationTime),
    HadoopInput.RandomAccess,
    conf
  )
}

private object FileSampler {
  private val MostFiles = 16

  /** Of a file. */
  private val MostRowGroups = 256

  /** Compressing pages with each codec takes a hundred milliseconds for a file. */
  private val MostFilesWithPages = 8
  private val Threads = 8
}
