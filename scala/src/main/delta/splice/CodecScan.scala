package org.apache.spark.sql.delta.upkeep.splice

import io.deltaupkeep.{CountText, SideBySide, UnreadableInput}
import io.deltaupkeep.parquet.file.{FileCodecs, Refusal}
import io.deltaupkeep.plan.compact.{CodecFindings, DataFile}

import org.apache.parquet.hadoop.metadata.CompressionCodecName

import org.apache.spark.TaskContext
import org.apache.spark.sql.delta.upkeep.spark.TaskAttempts
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.util.DeltaFileOperations
import org.apache.spark.util.SerializableConfiguration

/**
 * Finds files with another codec than one, by their footers. One Spark job reads them. The driver gets a number for each
 * file, and the reason for each file whose footer tells nothing.
 */
private[upkeep] final class CodecScan(handle: DeltaHandle) {
  import CodecScan._

  private val context = handle.session.sparkContext

  def findings(files: Seq[DataFile], asked: CompressionCodecName): CodecFindings =
    if (files.isEmpty) CodecFindings.none
    else {
      val groups = files.grouped(filesPerTask(files.size)).toIndexedSeq
      val found = groups.zip(run(groups, files.size)).flatMap { case (group, codecs) =>
        group.zip(codecs)
      }
      CodecFindings(
        found.collect {
          case (file, Found.Codecs(bits)) if (bits & ~bitOf(asked)) != 0 => file.id -> (ofBits(bits) - asked)
        }.toMap,
        found.collect { case (file, Found.Unknown(why)) => file.id -> why }.toMap
      )
    }

  private def run(groups: IndexedSeq[Seq[DataFile]], files: Int): Seq[Seq[Found]] = {
    val conf = context.broadcast(new SerializableConfiguration(handle.hadoopConf))
    val root = handle.path
    val before = context.getLocalProperty(Description)
    context.setJobDescription(s"OPTIMIZE ${handle.name}: codecs of ${CountText.of(files, "file")}")
    try
      context
        .parallelize(groups, groups.size)
        .map { files =>
          val codecs = new FileCodecs
          val task = TaskContext.get()
          SideBySide.map(files, "delta-upkeep-codecs", Threads) { file =>
            TaskAttempts.stopIfKilled(task)
            // Without the codec nobody would have opened it, so it does not stop the others.
            try Found.of(codecs.of(new HadoopInput(
                inputOf(root, file),
                HadoopInput.RandomAccess,
                conf.value.value
              )))
            catch { case unread: UnreadableInput => Found.Unknown(unread.getMessage) }
          }
        }
        .collect()
        .toSeq
    finally context.setJobDescription(before)
  }

  private def filesPerTask(files: Int): Int =
    math.max(1, math.min(MostFiles, files / context.defaultParallelism))
}

private object CodecScan {

  /** What a footer says. */
  sealed trait Found

  object Found {

    /** A bit for each codec. */
    final case class Codecs(bits: Int) extends Found

    final case class Unknown(why: String) extends Found

    def of(codecs: Either[Refusal, Set[CompressionCodecName]]): Found =
      codecs.fold(refusal => Unknown(refusal.reason), all => Codecs(all.foldLeft(0)(_ | bitOf(_))))
  }

  def bitOf(codec: CompressionCodecName): Int = 1 << codec.ordinal

  def ofBits(bits: Int): Set[CompressionCodecName] =
    CompressionCodecName.values.filter(codec => (bits & bitOf(codec)) != 0).toSet

  /** Reading footers waits for the store most of the time. */
  private val Threads = 8

  private val MostFiles = 512
  private val Description = "spark.job.description"

  def inputOf(root: String, file: DataFile): SpliceInput = SpliceInput(
    DeltaFileOperations.absolutePath(root, file.path).toUri.toString,
    file.sizeInBytes,
    file.modificationTime
  )
}
