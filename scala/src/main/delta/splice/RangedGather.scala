package org.apache.spark.sql.delta.upkeep.splice

import scala.collection.mutable
import scala.util.Random

import io.deltaupkeep.parquet.cut.RowRanges
import io.deltaupkeep.parquet.file.SpliceOutcome
import io.deltaupkeep.parquet.footer.{InputRows, SplicedTotals}
import io.deltaupkeep.parquet.gather.{DividedRows, Piece, PieceOutput, SampledFiles}
import io.deltaupkeep.store.NewFiles

import org.apache.hadoop.fs.Path
import org.apache.parquet.hadoop.metadata.CompressionCodecName

import org.apache.spark.{HashPartitioner, SparkContext, TaskContext}
import org.apache.spark.rdd.{RDD, ShuffledRDD}
import org.apache.spark.sql.delta.upkeep.spark.{JobProgress, SparkJobs, TaskAttempts}

/**
 * Puts the rows of a bin in order that is too large for one task. Tasks read the keys of its parts, from which ranges of the
 * order are chosen once. Then tasks divide the rows of the parts into these ranges, the pieces of a range meet in Spark's
 * shuffle as Parquet files, and a task for each range puts its rows in order.
 */
private[splice] final class RangedGather(
    context: SparkContext,
    description: String,
    work: SpliceWork,
    task: SpliceTask
) {
  private val shared = context.broadcast(RangedWork(work, task))
  private val parts: RDD[Int] = context.parallelize(task.parts.indices, task.parts.size)

  def run(): SpliceTaskResult = {
    val sampled = sample()
    sampled.collectFirst { case Left(refused) => work.gathered(task, refused, Nil) }.getOrElse {
      ordered(sampled.collect { case Right(files) => files })
    }
  }

  private def sample(): Seq[Either[SpliceOutcome.Refused, SampledFiles]] = {
    val (ranged, most) = (shared, math.max(1, RangedGather.MostSampled / task.parts.size))
    SparkJobs.described(context, s"$description: keys") {
      parts.map(part => ranged.value.sample(part, most)).collect().toSeq
    }
  }

  private def ordered(sampled: Seq[SampledFiles]): SpliceTaskResult = {
    val (ranged, rows) = (shared, sampled.map(_.keys.rows).sum)
    val ranges = RowRanges.of(sampled.map(_.keys), work.orderOf(task).order, task.parts.size)
    val sent = context.broadcast(ranges)
    val files = ranged.value.filesOfRange(ranges.count)
    val pieces = new ShuffledRDD[Int, Array[Byte], Array[Byte]](
      parts.flatMap(part => ranged.value.pieces(part, sent.value)),
      new HashPartitioner(ranges.count)
    )
    val results = new ArrivingResults[(Int, Array[Byte])](
      context,
      description,
      pieces,
      some => ranged.value.gather(some.map(_._2), rows, files),
      attempt => work.filesOf(task, attempt.id, files),
      work.conf.value
    )
    val arrived = mutable.ArrayBuffer.empty[SpliceTaskResult]
    var kept = false
    try {
      while (results.hasNext && arrived.forall(_.done.nonEmpty)) arrived += results.next()
      val result = together(arrived.toVector, sampled)
      kept = result.done.nonEmpty
      result
    } finally {
      results.close()
      SparkJobs.removeShuffled(context, pieces)
      if (!kept) {
        val written = arrived.flatMap(_.files).map(file => new Path(task.directory, file.name))
        NewFiles.remove(written.toSeq, work.conf.value)
      }
    }
  }

  /** The result of the bin. It is refused if a range is. */
  private def together(ofRanges: Seq[SpliceTaskResult], sampled: Seq[SampledFiles]): SpliceTaskResult =
    ofRanges.find(_.done.isEmpty).getOrElse {
      val done = ofRanges.flatMap(_.done).reduce(_ and _)
      val inputs = sampled.map(_.inputs).reduce(_ and _)
      SpliceTaskResult(
        task.index,
        Map.empty,
        Some(done.copy(
          rowGroupsBefore = sampled.map(_.rowGroups).sum,
          // Those of the pieces, which have another codec, tell nothing about the inputs.
          tallies = done.tallies.map { case (tier, work) =>
            tier -> work.copy(bytes = task.inputs.map(_.size).sum)
          },
          totals = done.totals.map(totals => SplicedTotals(inputs, totals.output))
        )),
        ofRanges.flatMap(_.files),
        ofRanges.flatMap(_.finding).headOption
      )
    }
}

private object RangedGather {

  /** The keys of so many rows tell where ranges begin. */
  val MostSampled = 1 << 16
}

/** What tasks do with a part of a bin, and with a range of its rows. */
private final case class RangedWork(work: SpliceWork, task: SpliceTask) {
  import RangedWork._

  /** Draws keys of a part. */
  def sample(part: Int, most: Int): Either[SpliceOutcome.Refused, SampledFiles] =
    work.gathererOf(task, inputsOf(part)).sample(most)

  /** The rows of a part by their range, or for each range why they cannot be taken. */
  def pieces(part: Int, ranges: RowRanges): Iterator[(Int, Array[Byte])] = {
    val context = TaskContext.get()
    val inputs = inputsOf(part)
    val outputs = Array.fill(ranges.count)(new PieceOutput)
    val pieces = mutable.ArrayBuffer.empty[(Int, Array[Byte])]
    val settings = work.settings.copy(codec = CodecOfPieces)
    val outcome = work.gathererOf(task, inputs, settings).run(
      DividedRows(ranges, part, task.parts.size),
      outputs(_),
      file => {
        val sample = file.sample.map(row => row.copy(input = task.parts(part)(row.input).file))
        pieces += file.index -> outputs(file.index).taken(part, file.rows, sample)
      },
      goOn = () => TaskAttempts.stopIfKilled(context)
    )
    outcome match {
      case refused: SpliceOutcome.Refused =>
        outputs.indices.iterator.map(_ -> Piece.refused(refused.inputs.head._2))
      case _ =>
        JobProgress.count(inputs.map(_.file.getLength).sum, 0, 0)
        pieces.iterator
    }
  }

  /** The most files that the rows of a range go into. */
  def filesOfRange(ranges: Int): Int = math.min(task.outputs, 2 * (task.outputs / ranges) + 1)

  /**
   * Writes the rows of a range.
   *
   * @param rows      of all ranges
   * @param mostFiles that they go into
   */
  def gather(stored: Iterator[Array[Byte]], rows: Long, mostFiles: Int): SpliceTaskResult = {
    val read = stored.map(Piece.read).toVector
    read.collectFirst { case Left(refusal) =>
      work.gathered(task, SpliceOutcome.Refused(Map(0 -> refusal)), Nil)
    }.getOrElse(gather(read.collect { case Right(piece) => piece }.sortBy(_.part), rows, mostFiles))
  }

  private def gather(pieces: IndexedSeq[Piece], rows: Long, mostFiles: Int): SpliceTaskResult = {
    val files = math.round(task.outputs.toDouble * pieces.map(_.rows).sum / math.max(1, rows))
    val origins = Random
      .shuffle(pieces.indices.flatMap(i => pieces(i).sample.map(row => (i, row.at) -> row)))
      .take(MostChecked)
      .toMap
    work.writeGathered(
      task,
      work.gathererOf(
        task,
        pieces.map(piece => InputRows(piece.file(s"part ${piece.part} of a range"))),
        // They are in memory.
        work.settings.copy(heldFileBytes = 0)
      ),
      work.filesOf(
        task,
        TaskContext.get().taskAttemptId(),
        math.max(1, math.min(files, mostFiles.toLong)).toInt
      ),
      bytesRead = 0,
      Some(origins.keys.toSeq),
      row => origins.get((row.input, row.row)).map(_.copy(at = row.at))
    )
  }

  private def inputsOf(part: Int): Seq[InputRows] = work.inputsOf(task, task.parts(part))
}

private object RangedWork {

  /** Fast, and their pages are not larger than those of most inputs. */
  private val CodecOfPieces = CompressionCodecName.SNAPPY

  /** Rows of a range that are compared with their inputs. */
  private val MostChecked = 8
}
