package org.apache.spark.sql.delta.upkeep.splice

import io.deltaupkeep.{CountText, UnreadableInput}
import io.deltaupkeep.parquet.file.{FileFooters, Refusal}
import io.deltaupkeep.plan.compact.{CodecFindings, DataFile}

import org.apache.parquet.hadoop.metadata.CompressionCodecName

import org.apache.spark.sql.delta.upkeep.spark.FileJob
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * Finds files with another codec than one, by their footers. One Spark job reads them. The driver gets a number for each
 * file, and the reason for each file whose footer tells nothing.
 */
private[upkeep] final class CodecScan(handle: DeltaHandle) {
  import CodecScan._

  def findings(files: Seq[DataFile], asked: CompressionCodecName): CodecFindings =
    if (files.isEmpty) CodecFindings.none
    else {
      val found = files.zip(run(files))
      CodecFindings(
        found.collect {
          case (file, Found.Codecs(bits)) if (bits & ~bitOf(asked)) != 0 => file.id -> (ofBits(bits) - asked)
        }.toMap,
        found.collect { case (file, Found.Unknown(why)) => file.id -> why }.toMap
      )
    }

  private def run(files: Seq[DataFile]): Seq[Found] = {
    val root = handle.path
    val description = s"OPTIMIZE ${handle.name}: codecs of ${CountText.of(files.size, "file")}"
    new FileJob(handle.session.sparkContext, handle.hadoopConf).map(
      files,
      description,
      "delta-upkeep-codecs"
    ) { () =>
      val footers = new FileFooters
      (file, conf) =>
        val input = SpliceInput.of(root, file.path, file.sizeInBytes, file.modificationTime)
        // Without the codec nobody would have opened it, so it does not stop the others.
        try Found.of(footers.codecs(new HadoopInput(input, HadoopInput.RandomAccess, conf)))
        catch { case unread: UnreadableInput => Found.Unknown(unread.getMessage) }
    }
  }
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
}
