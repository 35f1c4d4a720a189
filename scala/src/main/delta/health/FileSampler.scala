package org.apache.spark.sql.delta.upkeep.health

import scala.util.{Failure, Success, Try}

import io.deltaupkeep.{SideBySide, UnreadableInput}
import io.deltaupkeep.health.FooterSample
import io.deltaupkeep.parquet.footer.FileShape
import io.deltaupkeep.plan.compact.DataFile

import org.apache.spark.sql.delta.upkeep.splice.{HadoopInput, SpliceInput}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/** Reads the footers of a few files, spread evenly over time. */
final class FooterSampler(handle: DeltaHandle) {
  import FooterSampler._

  private val conf = handle.hadoopConf

  def sample(files: Seq[DataFile]): FooterSample = {
    val shapes = SideBySide.map(chosen(files), "delta-upkeep-footers", Threads) { file =>
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

  private def chosen(files: Seq[DataFile]): Seq[DataFile] = {
    val sorted = files.sortBy(file => (file.modificationTime, file.path)).toIndexedSeq
    val count = math.min(sorted.size, MostFiles)
    (0 until count).map(i => sorted((i.toLong * sorted.size / count).toInt))
  }

  private def inputOf(file: DataFile): HadoopInput = new HadoopInput(
    SpliceInput.of(handle.path, file.path, file.sizeInBytes, file.modificationTime),
    HadoopInput.RandomAccess,
    conf
  )
}

private object FooterSampler {
  private val MostFiles = 16
  private val Threads = 8
}
