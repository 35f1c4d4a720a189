package org.apache.spark.sql.delta.upkeep.files

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import io.deltaupkeep.plan.compact.DataFile

import org.apache.spark.sql.delta.upkeep.state.DriverFiles
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Partitions}

/** Shows all files of a table, with their numbers of rows and their statistics, and keeps none of them. */
private[upkeep] object FileScan {

  /**
   * Shows each file to one of several counters, and as often as a damaged log names it.
   *
   * @param counter a new one, for one thread
   * @param show    a file with its statistics as JSON, or null, to a counter
   * @return the counters
   * @throws io.deltaupkeep.UnreadableInput a file of the log is missing or damaged
   */
  def run[A](handle: DeltaHandle)(counter: () => A)(show: (A, DataFile, String) => Unit): Seq[A] =
    if (ActiveFiles.areOnDriver(handle)) {
      val counters = new ConcurrentLinkedQueue[A]
      val ofThread = ThreadLocal.withInitial[A] { () =>
        val own = counter()
        counters.add(own)
        own
      }
      val partitions = new Partitions(handle.snapshot.metadata)
      val make: DriverFiles.Make[Nothing] = { fields =>
        val (own, read) = (ofThread.get, new DataFileReader(fields, partitions.of(_: Map[String, String])))
        (add, path) => {
          val stats = read.statsOf(add)
          show(own, read.counted(add, path, stats), stats)
          None
        }
      }
      val log = new DriverFiles(handle)
      log.inCommits(make)
      log.inCheckpoint(FileSearch.WithRows)(make)
      counters.asScala.toSeq
    } else Seq(of(new SelectedFiles(handle, FilePredicate.none, whole = true))(counter)(show))

  /** The same for files that are known. */
  def of[A](files: SelectedFiles)(counter: () => A)(show: (A, DataFile, String) => Unit): A = {
    val own = counter()
    files.adds.foreach(add => show(own, files.dataFile(add), add.stats))
    own
  }
}
