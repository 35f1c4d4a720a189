package io.deltaupkeep.parquet.gather

import io.deltaupkeep.{ByteText, CountText, SideBySide, UnreadableInput}
import io.deltaupkeep.parquet.bytes.{NotSpliceable, TooLarge}
import io.deltaupkeep.parquet.cut.{ColumnGatherer, HeldRows, KeySample, RowOrder, RowPlaces}
import io.deltaupkeep.parquet.file.{
  FileQueue,
  OutputWriter,
  Refusal,
  SpliceOutcome,
  SpliceRequest,
  SpliceSummary,
  TierTally
}
import io.deltaupkeep.parquet.footer.{FileOpener, OpenFile, RowGroup}
import io.deltaupkeep.parquet.merge.SplicedChunk
import io.deltaupkeep.parquet.page.RowGroupTooLarge
import io.deltaupkeep.parquet.plan.{ChunkTier, PlannedChunk, PlannedRowGroup, SplicePlanner, SpliceSettings}

import org.apache.parquet.hadoop.metadata.ParquetMetadata
import org.apache.parquet.io.OutputFile

import org.apache.hadoop.conf.Configuration

/**
 * Puts the rows of Parquet files in another order, without making rows: finds the order by the key columns, and
 * then takes one column after the other in that order. The bin is in memory: its files, the new pages, and the columns
 * that are in work, `gatherBytes` of each.
 *
 * A bin that cannot be put in order is refused as a whole: its rows have to be ordered together.
 *
 * @param keys           leaf columns outside lists, by the parts of their names in the files
 * @param spliceSettings as for a splice
 * @param conf           settings of the codecs
 */
final class FileGatherer(
    request: SpliceRequest,
    keys: Seq[Seq[String]],
    spliceSettings: SpliceSettings,
    conf: Configuration
) {
  import FileGatherer._

  private val settings = spliceSettings.copy(
    bytesInFlight = spliceSettings.gatherBytes,
    heldFileBytes = math.min(spliceSettings.gatherBytes / 8, spliceSettings.heldFileBytes)
  )
  private val planner = new SplicePlanner(request.table, settings, request.isReadable, request.constants)
  private val summary = new SpliceSummary

  /**
   * What [[run]] would do with rows that are sorted, from the footers alone. If they are too many, but of one row group, more
   * tasks could not take them either.
   *
   * @param outputs number of new files
   */
  def preview(outputs: Int): SpliceOutcome = {
    val opener = new FileOpener(settings.heldFileBytes)
    opened(index => Refusal.orElse(opener.peek(request.inputs(index)))) match {
      case Left(refused) => refused
      case Right(files) =>
        val groups = files.flatMap(_.rowGroups)
        whyNot(groups, chunksOf(groups)).map(ofRowGroups(groups, _)).getOrElse {
          cuts(groups, ArrangedRows.evenly(rowsOf(groups), outputs)).flatMap(_.groups).foreach {
            case (from, until) => summary.addGathered(until.toLong - from, Why)
          }
          summary.outcome(Nil, Map.empty)
        }
    }
  }

  private def ofRowGroups(
      groups: IndexedSeq[RowGroup],
      refused: SpliceOutcome.Refused
  ): SpliceOutcome.Refused =
    if (groups.size > 1) refused
    else SpliceOutcome.Refused(refused.inputs.map { case (input, why) => input -> why.copy(times = 1) })

  /**
   * Reads the key columns, and draws rows at random. Refuses as [[preview]] does.
   *
   * @param most of the rows that are drawn
   */
  def sample(most: Int): Either[SpliceOutcome.Refused, SampledFiles] =
    withFiles(settings.copy(heldFileBytes = 0)) { files =>
      val groups = files.flatMap(_.rowGroups)
      val chunks = chunksOf(groups)
      whyNot(groups, chunks).map(ofRowGroups(groups, _)).toLeft(()).flatMap { _ =>
        gathering(rowsOf(groups)) { gatherer =>
          val drawn = KeySample.of(keysOf(gatherer, chunks), rowsOf(groups), most)
          SampledFiles(drawn, summary.inputTotals, summary.rowGroupsBefore)
        }
      }
    }

  /**
   * Writes the outputs, which must not exist. If it refuses or fails, the caller has to delete what was written.
   *
   * @param output  the file with this number, from 0 on
   * @param written called with each output
   * @param wanted  positions of inputs and of their rows, to tell where these went, if the inputs have no deleted rows; None
   *                to draw some
   * @param marks   of the inputs: rows to tell where these went
   * @param goOn    called now and then, by any thread; throws if the work has to stop
   * @throws io.deltaupkeep.UnreadableInput if an input cannot be read
   */
  def run(
      arrangement: Arrangement,
      output: Int => OutputFile,
      written: GatheredFile => Unit,
      wanted: Option[Seq[(Int, Long)]] = None,
      marks: IndexedSeq[RowMarks] = IndexedSeq.empty,
      goOn: () => Unit = () => ()
  ): SpliceOutcome =
    withFiles(settings) { files =>
      val marked = new MarkedRows(files, marks)
      marked.whyNot.map(refused).toLeft(()).flatMap { _ =>
        gather(files, arrangement, output, written, wanted, marked, goOn)
      }
    }.merge

  /**
   * Finds the order, and writes nothing: what [[run]] would tell of the new files.
   *
   * @param marks of the inputs
   */
  def follow(
      arrangement: Arrangement,
      marks: IndexedSeq[RowMarks],
      goOn: () => Unit
  ): Either[SpliceOutcome.Refused, Seq[FollowedFile]] =
    withFiles(settings.copy(heldFileBytes = 0)) { files =>
      val groups = files.flatMap(_.rowGroups)
      val (chunks, marked) = (chunksOf(groups), new MarkedRows(files, marks))
      marked.whyNot.map(refused).orElse(whyNot(groups, chunks)).toLeft(()).flatMap { _ =>
        gathering(rowsOf(groups), goOn) { gatherer =>
          val arranged = arrangement.of(keysOf(gatherer, chunks), rowsOf(groups), settings.threads)
          cuts(groups, arranged.ends).map { output =>
            FollowedFile(output.until - output.from, followed(arranged, output, marked, sample = Nil))
          }
        }
      }
    }

  private def followed(
      arranged: ArrangedRows,
      output: Output,
      marked: MarkedRows,
      sample: Seq[SampledRow]
  ): FollowedRows = FollowedRows(
    sample,
    marked.places(arranged.order, output.from, output.until),
    Fingerprint.of(arranged.order, output.from, output.until)
  )

  private def withFiles[T](settings: SpliceSettings)(
      use: IndexedSeq[OpenFile] => Either[SpliceOutcome.Refused, T]
  ): Either[SpliceOutcome.Refused, T] = {
    val files = new FileQueue(request.inputs, settings)
    try opened(_ => files.next()).flatMap(use)
    catch {
      case unreadable @ Refusal.OfInput(refusal) =>
        val index = request.inputs.indexWhere(_.name == unreadable.file)
        if (index < 0) throw unreadable
        Left(SpliceOutcome.Refused(Map(index -> refusal)))
    } finally files.close()
  }

  /** All inputs, or why the first one that cannot be taken is refused. */
  private def opened(
      open: Int => Either[Refusal, OpenFile]
  ): Either[SpliceOutcome.Refused, IndexedSeq[OpenFile]] = {
    val files = IndexedSeq.newBuilder[OpenFile]
    var footers = 0L
    val refused = request.inputs.indices.iterator.map { index =>
      open(index).flatMap { file =>
        val planned = Refusal.orElse(UnreadableInput.naming(file.name)(planner.add(file)))
        footers += file.footerHeldBytes
        if (footers > settings.bytesInFlight)
          Left(Refusal(
            s"the footers of its files take more than ${ByteText.of(settings.bytesInFlight)} of memory"
          ))
        else
          planned.map { _ =>
            summary.addInput(file)
            files += file
          }
      }.left.map(refusal => SpliceOutcome.Refused(Map(index -> refusal)))
    }.collectFirst { case Left(refusal) => refusal }
    refused.toLeft(files.result())
  }

  private def chunksOf(groups: IndexedSeq[RowGroup]): IndexedSeq[PlannedChunk] =
    if (groups.isEmpty) IndexedSeq.empty else planner.chunksOf(PlannedRowGroup(groups))

  /** Why the rows cannot be put in order here. */
  private def whyNot(
      groups: IndexedSeq[RowGroup],
      chunks: IndexedSeq[PlannedChunk]
  ): Option[SpliceOutcome.Refused] = {
    val rows = groups.iterator.map(_.rows).sum
    val keyChunks = keysIn(chunks)
    val refusal =
      if (rows > MostRows)
        Some(Refusal(
          s"a task puts at most ${CountText.of(MostRows, "row")} in order by columns",
          times = rows.toDouble / MostRows
        ))
      else if (groups.nonEmpty && keyChunks.isEmpty)
        Some(Refusal("a key is not a column of its own in the files"))
      else {
        // Deleted rows may have values of their own in a dictionary, which is sorted.
        val sorting =
          groups.iterator.map(_.storedRows).sum * RowOrder.bytesPerRow(keys.size, settings.threads) +
            keyChunks.iterator.flatten.map(ColumnGatherer.bytesOf).sum
        // There are neither new pages nor columns in work while rows are sorted.
        tooMuch(s"to sort ${CountText.of(rows, "row")}", sorting, 2 * settings.bytesInFlight).orElse {
          chunks.iterator.flatMap { chunk =>
            val bytes = ColumnGatherer.bytesOf(chunk) + rows * RowPlaces.BytesPerRow
            tooMuch(s"column ${chunk.name}", bytes, settings.bytesInFlight)
          }.nextOption()
        }
      }
    refusal.map(refused)
  }

  private def tooMuch(what: String, bytes: Long, most: Long): Option[Refusal] = Option.when(bytes > most) {
    Refusal(
      s"$what takes ${ByteText.of(bytes)} of memory, more than the ${ByteText.of(most)} allowed",
      times = bytes.toDouble / most
    )
  }

  private def refused(refusal: Refusal): SpliceOutcome.Refused = SpliceOutcome.Refused(Map(0 -> refusal))

  private def gather(
      files: IndexedSeq[OpenFile],
      arrangement: Arrangement,
      output: Int => OutputFile,
      written: GatheredFile => Unit,
      wanted: Option[Seq[(Int, Long)]],
      marked: MarkedRows,
      goOn: () => Unit
  ): Either[SpliceOutcome.Refused, SpliceOutcome] = {
    val groups = files.flatMap(_.rowGroups)
    val chunks = chunksOf(groups)
    whyNot(groups, chunks).toLeft(()).flatMap { _ =>
      val rows = rowsOf(groups)
      gathering(rows, goOn) { gatherer =>
        val arranged = arrangement.of(keysOf(gatherer, chunks), rows, settings.threads)
        val outputs = cuts(groups, arranged.ends)
        val columns = gatherer.gather(chunks, new RowPlaces(arranged.order), outputs.flatMap(_.groups))
        val work = TierTally(chunks.iterator.map(_.compressedBytes).sum, columns.iterator.map(_.nanos).sum)
        summary.addWork(ChunkTier.Gather, work)
        val footers = writeAll(outputs, columns.map(_.chunks), output, goOn)
        val samples = new RowSample(files, arranged.order, wanted)
          .of(outputs.map(output => (output.from, output.until)))
        val rowsOfFiles = outputs.zip(samples).map { case (output, sample) =>
          followed(arranged, output, marked, sample)
        }
        report(outputs, footers, columns.map(_.chunks), rowsOfFiles, written)
        summary.outcome(footers, Map.empty)
      }
    }
  }

  /** The result of work on whole columns, or why they cannot be taken: footers do not tell all. */
  private def gathering[T](rows: Int, goOn: () => Unit = () => ())(
      work: ColumnGatherer => T
  ): Either[SpliceOutcome.Refused, T] = {
    val gatherer = new ColumnGatherer(rows, settings, conf, goOn)
    try Right(work(gatherer))
    catch {
      case why: TooLarge => Left(refused(Refusal(why.reason("a new file"), times = Refusal.Unforeseen)))
      case why: NotSpliceable => Left(refused(Refusal(why.reason("a new file"))))
      case _: RowGroupTooLarge =>
        val limit = ByteText.of(settings.heldRowGroupBytes)
        Left(refused(Refusal(
          s"new pages take more than the $limit of memory allowed",
          times = Refusal.Unforeseen
        )))
    } finally gatherer.close()
  }

  private def keysOf(gatherer: ColumnGatherer, chunks: IndexedSeq[PlannedChunk]): IndexedSeq[HeldRows] =
    gatherer.keys(keysIn(chunks).toSeq.flatten)

  /** The key columns, if all of them are leaf columns outside lists. */
  private def keysIn(chunks: IndexedSeq[PlannedChunk]): Option[Seq[PlannedChunk]] = {
    val found = keys.flatMap { key =>
      chunks.find(chunk =>
        chunk.column.getPath.toSeq == key && chunk.column.getMaxRepetitionLevel == 0
      )
    }
    Option.when(found.size == keys.size)(found)
  }

  /**
   * The outputs that have rows.
   *
   * @param ends where each output ends in the order of the rows
   */
  private def cuts(groups: IndexedSeq[RowGroup], ends: IndexedSeq[Int]): IndexedSeq[Output] = {
    val bytesOfRow = groups.iterator.map(_.uncompressedBytes).sum.toDouble / math.max(1, rowsOf(groups))
    ends.indices.map { index =>
      val (from, until) = (if (index == 0) 0 else ends(index - 1), ends(index))
      val rowGroups = math.ceil(bytesOfRow * (until - from) / settings.rowGroupBytes).toInt
      val inGroups = ArrangedRows.evenly(until - from, math.max(1, rowGroups)).map(from + _)
      Output(index, (from +: inGroups.dropRight(1)).zip(inGroups))
    }.filter(_.groups.nonEmpty)
  }

  private def writeAll(
      outputs: IndexedSeq[Output],
      columns: Seq[IndexedSeq[SplicedChunk]],
      output: Int => OutputFile,
      goOn: () => Unit
  ): Seq[ParquetMetadata] = {
    val firsts = outputs.scanLeft(0)(_ + _.groups.size)
    SideBySide.map(outputs.indices, "delta-upkeep-write", settings.threads) { at =>
      val writer = new OutputWriter(output(outputs(at).index), request.keyValues, settings)
      var ended = false
      try {
        outputs(at).groups.zipWithIndex.foreach { case ((from, until), group) =>
          goOn()
          val to = writer.startRowGroup(planner.output, until.toLong - from)
          columns.foreach(_(firsts(at) + group).write(to))
          to.endBlock()
        }
        val footer = writer.end()
        ended = true
        footer.getOrElse(throw new IllegalStateException("An output without row groups"))
      } finally if (!ended) writer.abandon()
    }
  }

  private def report(
      outputs: IndexedSeq[Output],
      footers: Seq[ParquetMetadata],
      columns: Seq[IndexedSeq[SplicedChunk]],
      followed: IndexedSeq[FollowedRows],
      written: GatheredFile => Unit
  ): Unit = {
    val firsts = outputs.scanLeft(0)(_ + _.groups.size)
    outputs.zip(footers).zipWithIndex.foreach { case ((output, footer), at) =>
      output.groups.foreach { case (from, until) => summary.addGathered(until.toLong - from, Why) }
      val ofFile = new SpliceSummary
      for (column <- columns; group <- output.groups.indices) {
        val chunk = column(firsts(at) + group)
        summary.addFacts(chunk.column, chunk.knownFacts)
        ofFile.addFacts(chunk.column, chunk.knownFacts)
      }
      val rows = output.until.toLong - output.from
      written(GatheredFile(output.index, rows, footer, ofFile.totals(Seq(footer)).leaves, followed(at)))
    }
  }
}

object FileGatherer {

  /** How it puts rows in order, in words. */
  val Why = "rows are put in order column by column"

  /** Below the limit of an array, so that rows rounded up to whole blocks do not pass it. */
  private val MostRows = Int.MaxValue - (1L << 16)

  /** Of rows that are not too many. */
  private def rowsOf(groups: IndexedSeq[RowGroup]): Int = groups.iterator.map(_.rows).sum.toInt

  /** @param groups where its row groups begin and end in the order of the rows */
  private final case class Output(index: Int, groups: IndexedSeq[(Int, Int)]) {
    def from: Int = groups.head._1
    def until: Int = groups.last._2
  }
}
