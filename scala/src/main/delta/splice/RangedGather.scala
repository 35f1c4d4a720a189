package org.apache.spark.sql.delta.upkeep.splice

import scala.collection.mutable
import scala.util.Random

import io.deltaupkeep.parquet.cut.RowRanges
import io.deltaupkeep.parquet.file.{Refusal, SpliceOutcome}
import io.deltaupkeep.parquet.footer.{InputRows, RowSelection, SplicedTotals}
import io.deltaupkeep.parquet.gather.{
  DividedRows,
  FileGatherer,
  Fingerprint,
  Piece,
  PieceOutput,
  RowMarks,
  SampledFiles
}
import io.deltaupkeep.store.NewFiles

import org.apache.hadoop.fs.Path
import org.apache.parquet.hadoop.metadata.CompressionCodecName

import org.apache.spark.{HashPartitioner, SparkContext, TaskContext}
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.{RDD, ShuffledRDD}
import org.apache.spark.sql.delta.upkeep.spark.{JobProgress, SparkJobs, TaskAttempts}

/**
 * Puts the rows of a bin in order that is too large for one task. Tasks read the keys of its parts, from which ranges of the
 * order are chosen once. Then tasks divide the rows of the parts into these ranges, the pieces of a range meet in Spark's
 * shuffle as Parquet files, and a task for each range puts its rows in order.
 *
 * @param fates of the inputs since they were put in order, to find rows in the new files; none if there are no new files
 */
private[splice] final class RangedGather(
    context: SparkContext,
    description: String,
    work: SpliceWork,
    task: SpliceTask,
    fates: IndexedSeq[InputFate] = IndexedSeq.empty
) {
  private val shared = context.broadcast(RangedWork(work, task, fates))
  private val parts: RDD[Int] = context.parallelize(task.parts.indices, task.parts.size)

  /** Writes the new files. */
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
    val found = FoundRanges(
      RowRanges.of(sampled.map(_.keys), work.orderOf(task).order, task.parts.size),
      sampled.map(_.keys.rows).sum
    )
    val (ranged, sent) = (shared, context.broadcast(found))
    val files = ranged.value.filesOfRange(found.ranges.count)
    val pieces = shuffled(sent)
    val results = new ArrivingResults[(Int, Array[Byte])](
      context,
      description,
      pieces,
      some => ranged.value.gather(some.map(_._2), sent.value),
      attempt => work.filesOf(task, attempt.id, files),
      work.conf.value
    )
    val arrived = mutable.ArrayBuffer.empty[SpliceTaskResult]
    var kept = false
    try {
      while (results.hasNext && arrived.forall(_.done.nonEmpty)) arrived += results.next()
      val result =
        together(arrived.toVector, sampled).copy(run = Some(OrderedRun(task, Some(found))))
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

  private def shuffled(ranges: Broadcast[FoundRanges]): ShuffledRDD[Int, Array[Byte], Array[Byte]] = {
    val ranged = shared
    new ShuffledRDD(
      parts.flatMap(part => ranged.value.pieces(part, ranges.value.ranges)),
      new HashPartitioner(ranges.value.ranges.count)
    )
  }

  /** Finds the rows of the new files that are gone by the fates of the inputs. */
  def late(found: FoundRanges): Either[Refusal, Seq[MarkedFile]] = {
    val (ranged, sent) = (shared, context.broadcast(found))
    val pieces = shuffled(sent)
    try {
      val ofRanges = SparkJobs.described(context, description) {
        pieces.mapPartitions(some => Iterator(ranged.value.late(some.map(_._2), sent.value))).collect()
      }
      ofRanges.toSeq.partitionMap(identity) match {
        case (Seq(), files) => Right(files.flatten)
        case (refused, _) => Left(refused.head)
      }
    } finally SparkJobs.removeShuffled(context, pieces)
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
private final case class RangedWork(work: SpliceWork, task: SpliceTask, fates: IndexedSeq[InputFate]) {
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
        val sample = file.followed.sample.map(row => row.copy(input = task.parts(part)(row.input).file))
        val followed = file.followed.copy(sample = sample)
        pieces += file.index -> outputs(file.index).taken(part, file.rows, followed)
      },
      marks = work.marksOf(task.parts(part), fates),
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

  /** Writes the rows of a range. */
  def gather(stored: Iterator[Array[Byte]], found: FoundRanges): SpliceTaskResult =
    read(stored) match {
      case Left(refusal) => work.gathered(task, SpliceOutcome.Refused(Map(0 -> refusal)), Nil)
      case Right(pieces) =>
        val origins = Random
          .shuffle(pieces.indices.flatMap(i => pieces(i).followed.sample.map(row => (i, row.at) -> row)))
          .take(MostChecked)
          .toMap
        val ofPieces = fingerprintOf(pieces)
        work.writeGathered(
          task,
          gathererOf(pieces),
          work.filesOf(task, TaskContext.get().taskAttemptId(), filesOf(pieces, found)),
          bytesRead = 0,
          Some(origins.keys.toSeq),
          row => origins.get((row.input, row.row)).map(_.copy(at = row.at)),
          ofFile => Fingerprint.of(Seq(ofPieces, ofFile))
        )
    }

  /** The rows of a range that are gone by the fates of the inputs. */
  def late(stored: Iterator[Array[Byte]], found: FoundRanges): Either[Refusal, Seq[MarkedFile]] =
    read(stored).flatMap { pieces =>
      val ofPieces = fingerprintOf(pieces)
      work.marked(
        task,
        gathererOf(pieces),
        filesOf(pieces, found),
        pieces.map(piece => RowMarks.Dropped(new RowSelection(piece.followed.marked))),
        ofFile => Fingerprint.of(Seq(ofPieces, ofFile))
      )
    }

  /** The pieces of a range, or why a part was refused. */
  private def read(stored: Iterator[Array[Byte]]): Either[Refusal, IndexedSeq[Piece]] =
    stored.map(Piece.read).toVector.partitionMap(identity) match {
      case (Seq(), pieces) => Right(pieces.sortBy(_.part))
      case (refused, _) => Left(refused.head)
    }

  private def gathererOf(pieces: IndexedSeq[Piece]): FileGatherer = work.gathererOf(
    task,
    pieces.map(piece => InputRows(piece.file(s"part ${piece.part} of a range"))),
    // They are in memory.
    work.settings.copy(heldFileBytes = 0)
  )

  /** How many files a range becomes. */
  private def filesOf(pieces: IndexedSeq[Piece], found: FoundRanges): Int = {
    val share = pieces.map(_.rows).sum.toDouble / math.max(1, found.rows)
    math.max(1, math.min(math.round(task.outputs * share), filesOfRange(found.ranges.count).toLong)).toInt
  }

  private def fingerprintOf(pieces: IndexedSeq[Piece]): Long = Fingerprint.of(
    TaskContext.getPartitionId().toLong +: pieces.flatMap(piece =>
      Seq(piece.part.toLong, piece.followed.fingerprint)
    )
  )

  private def inputsOf(part: Int): Seq[InputRows] = work.inputsOf(task, task.parts(part))
}

private object RangedWork {

  /** Fast, and their pages are not larger than those of most inputs. */
  private val CodecOfPieces = CompressionCodecName.SNAPPY

  /** Rows of a range that are compared with their inputs. */
  private val MostChecked = 8
}
