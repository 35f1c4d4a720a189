package org.apache.spark.sql.delta.upkeep.health

import scala.collection.mutable
import scala.util.hashing.MurmurHash3

import io.deltaupkeep.FileTotal
import io.deltaupkeep.health.FileSummary
import io.deltaupkeep.plan.analyze.StatsGaps
import io.deltaupkeep.plan.compact.DataFile

import org.apache.spark.sql.delta.upkeep.analyze.TableAnalyze
import org.apache.spark.sql.delta.upkeep.files.{FileScan, SelectedFiles}
import org.apache.spark.sql.delta.upkeep.read.DriverBytes
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * What all files of a table are like, counted file by file.
 *
 * @param withoutStatistics those that lack some of the statistics that the table collects
 * @param some              of the files: always the same ones, all if there are few
 */
final case class FileCensus(files: FileSummary, withoutStatistics: FileTotal, some: Seq[DataFile])

object FileCensus {

  /** Whether the actions of all files are better held than found twice. */
  def isSmall(handle: DeltaHandle): Boolean = DriverBytes.ofLog(handle.snapshot) <= SmallLogBytes

  def of(handle: DeltaHandle, selected: SelectedFiles): FileCensus = {
    val gaps = TableAnalyze.gaps(handle)
    val counter = () => new Counter(gaps)
    val counters =
      if (selected.whole) Seq(FileScan.of(selected)(counter)(_.show(_, _)))
      else FileScan.run(handle)(counter)(_.show(_, _))
    FileCensus(
      counters.map(_.files).foldLeft(FileSummary.none)(_ ++ _),
      counters.map(_.lacking).foldLeft(FileTotal.none)(_ ++ _),
      counters.flatMap(_.sample).sortBy(_._1).take(MostFiles).map(_._2)
    )
  }

  private final class Counter(gaps: StatsGaps) {
    var files: FileSummary = FileSummary.none
    var lacking: FileTotal = FileTotal.none

    /** The files with the lowest hashes, the highest first. */
    val sample: mutable.PriorityQueue[(Int, DataFile)] = mutable.PriorityQueue.empty(Ordering.by(_._1))

    def show(file: DataFile, stats: String): Unit = {
      files += file
      if (gaps.of(stats).nonEmpty) lacking += file.sizeInBytes
      val hash = MurmurHash3.stringHash(file.path)
      if (sample.size < MostFiles || hash < sample.head._1) {
        sample += hash -> file
        if (sample.size > MostFiles) sample.dequeue()
      }
    }
  }

  private val MostFiles = 4096

  /** Of about 100,000 files. */
  private val SmallLogBytes = 32L << 20
}
