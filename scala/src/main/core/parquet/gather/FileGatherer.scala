package io.deltaupkeep.parquet.gather

import io.deltaupkeep.{ByteText, CountText, SideBySide, UnreadableInput}
import io.deltaupkeep.parquet.bytes.NotSpliceable
import io.deltaupkeep.parquet.cut.{ColumnGatherer, RowOrder, RowPlaces}
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
 * @param spliceSettings as for a splice
 * @param conf           settings of the codecs
 */
final class FileGatherer(
    request: SpliceRequest,
    order: GatherOrder,
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

  /** What [[run]] would do, from the footers alone. */
  def preview(): SpliceOutcome = {
    val opener = new FileOpener(settings.heldFileBytes)
    opened(index => Refusal.orElse(opener.peek(request.inputs(index)))) match {
      case Left(refused) => refused
      case Right(files) =>
        val groups = files.flatMap(_.rowGroups)
        whyNot(groups, chunksOf(groups)).getOrElse {
          cuts(groups).flatten.foreach { case (from, until) => summary.addGathered(until.toLong - from, Why) }
          summary.outcome(Nil, Map.empty)
        }
    }
  }

  /**
   * Writes the outputs, which must not exist. If it refuses or fails, the caller has to delete what was written.
   *
   * @param output  the file with this number, from 0 on
   * @param written called with each output
   * @param goOn    called now and then, by any thread; throws if the work has to stop
   * @throws io.deltaupkeep.UnreadableInput if an input cannot be read
   */
  def run(
      output: Int => OutputFile,
      written: GatheredFile => Unit,
      goOn: () => Unit = () => ()
  ): SpliceOutcome = {
    val files = new FileQueue(request.inputs, settings)
    try
      opened(_ => files.next()) match {
        case Left(refused) => refused
        case Right(open) => gather(open, output, written, goOn)
      }
    catch {
      case unreadable @ Refusal.OfInput(refusal) =>
        val index = request.inputs.indexWhere(_.name == unreadable.file)
        if (index < 0) throw unreadable
        SpliceOutcome.Refused(Map(index -> refusal))
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
    val keys = keysIn(chunks)
    val reason =
      if (rows > MostRows) Some(s"a task puts at most ${CountText.of(MostRows, "row")} in order by columns")
      else if (groups.nonEmpty && keys.isEmpty) Some("a key is not a column of its own in the files")
      else {
        // Deleted rows may have values of their own in a dictionary, which is sorted.
        val sorting =
          groups.iterator.map(_.storedRows).sum * RowOrder.bytesPerRow(order.keys.size, settings.threads) +
            keys.iterator.flatten.map(ColumnGatherer.bytesOf).sum
        // There are neither new pages nor columns in work while rows are sorted.
        tooMuch(s"to sort ${CountText.of(rows, "row")}", sorting, 2 * settings.bytesInFlight).orElse {
          chunks.iterator.flatMap { chunk =>
            val bytes = ColumnGatherer.bytesOf(chunk) + rows * RowPlaces.BytesPerRow
            tooMuch(s"column ${chunk.name}", bytes, settings.bytesInFlight)
          }.nextOption()
        }
      }
    reason.map(refused)
  }

  private def tooMuch(what: String, bytes: Long, most: Long): Option[String] = Option.when(bytes > most) {
    s"$what takes ${ByteText.of(bytes)} of memory, more than the ${ByteText.of(most)} allowed"
  }

  private def refused(reason: String): SpliceOutcome.Refused =
    SpliceOutcome.Refused(Map(0 -> Refusal(reason)))

  private def gather(
      files: IndexedSeq[OpenFile],
      output: Int => OutputFile,
      written: GatheredFile => Unit,
      goOn: () => Unit
  ): SpliceOutcome = {
    val groups = files.flatMap(_.rowGroups)
    val chunks = chunksOf(groups)
    whyNot(groups, chunks).getOrElse {
      val rows = groups.iterator.map(_.rows).sum.toInt
      val gatherer = new ColumnGatherer(rows, settings, conf, goOn)
      try {
        val sorted = if (rows == 0) Array.emptyIntArray else sort(gatherer, chunks, rows)
        val outputs = cuts(groups)
        val columns = gatherer.gather(chunks, new RowPlaces(sorted), outputs.flatten)
        val work = TierTally(chunks.iterator.map(_.compressedBytes).sum, columns.iterator.map(_.nanos).sum)
        summary.addWork(ChunkTier.Gather, work)
        val footers = writeAll(outputs, columns.map(_.chunks), output, goOn)
        report(outputs, footers, columns.map(_.chunks), new RowSample(files, sorted), written)
        summary.outcome(footers, Map.empty)
      } catch {
        case why: NotSpliceable => refused(why.reason("a new file"))
        case _: RowGroupTooLarge =>
          val limit = ByteText.of(settings.heldRowGroupBytes)
          refused(s"new pages take more than the $limit of memory allowed")
      } finally gatherer.close()
    }
  }

  private def sort(gatherer: ColumnGatherer, chunks: IndexedSeq[PlannedChunk], rows: Int): Array[Int] =
    RowOrder.of(gatherer.keys(keysIn(chunks).toSeq.flatten), rows, order.order, settings.threads)

  /** The key columns, if all of them are leaf columns outside lists. */
  private def keysIn(chunks: IndexedSeq[PlannedChunk]): Option[Seq[PlannedChunk]] = {
    val found = order.keys.flatMap { key =>
      chunks.find(chunk =>
        chunk.column.getPath.toSeq == key && chunk.column.getMaxRepetitionLevel == 0
      )
    }
    Option.when(found.size == order.keys.size)(found)
  }

  /** Where the row groups of each output begin and end in the order of the rows. */
  private def cuts(groups: IndexedSeq[RowGroup]): IndexedSeq[IndexedSeq[(Int, Int)]] = {
    val rows = groups.iterator.map(_.rows).sum
    val bytes = groups.iterator.map(_.uncompressedBytes).sum
    evenly(0, rows, math.min(order.outputs.toLong, rows)).map { case (from, until) =>
      val ofOutput = bytes.toDouble * (until - from) / rows
      val rowGroups = math.min(until - from, math.ceil(ofOutput / settings.rowGroupBytes).toLong)
      evenly(from, until, math.max(1, rowGroups)).map { case (start, end) => (start.toInt, end.toInt) }
    }
  }

  private def writeAll(
      outputs: IndexedSeq[IndexedSeq[(Int, Int)]],
      columns: Seq[IndexedSeq[SplicedChunk]],
      output: Int => OutputFile,
      goOn: () => Unit
  ): Seq[ParquetMetadata] = {
    val firsts = outputs.scanLeft(0)(_ + _.size)
    SideBySide.map(outputs.indices, "delta-upkeep-write", settings.threads) { index =>
      val writer = new OutputWriter(output(index), request.keyValues, settings)
      var ended = false
      try {
        outputs(index).zipWithIndex.foreach { case ((from, until), group) =>
          goOn()
          val to = writer.startRowGroup(planner.output, until.toLong - from)
          columns.foreach(_(firsts(index) + group).write(to))
          to.endBlock()
        }
        val footer = writer.end()
        ended = true
        footer.getOrElse(throw new IllegalStateException("An output without row groups"))
      } finally if (!ended) writer.abandon()
    }
  }

  private def report(
      outputs: IndexedSeq[IndexedSeq[(Int, Int)]],
      footers: Seq[ParquetMetadata],
      columns: Seq[IndexedSeq[SplicedChunk]],
      sample: RowSample,
      written: GatheredFile => Unit
  ): Unit = {
    val firsts = outputs.scanLeft(0)(_ + _.size)
    val samples = sample.of(outputs.map(groups => (groups.head._1, groups.last._2)))
    outputs.zip(footers).zipWithIndex.foreach { case ((groups, footer), index) =>
      groups.foreach { case (from, until) => summary.addGathered(until.toLong - from, Why) }
      val ofFile = new SpliceSummary
      for (column <- columns; group <- groups.indices) {
        val chunk = column(firsts(index) + group)
        summary.addFacts(chunk.column, chunk.knownFacts)
        ofFile.addFacts(chunk.column, chunk.knownFacts)
      }
      val rows = groups.last._2.toLong - groups.head._1
      written(GatheredFile(index, rows, footer, ofFile.totals(Seq(footer)).leaves, samples(index)))
    }
  }
}

private object FileGatherer {
  private val Why = "rows are put in order column by column"

  /** Below the limit of an array, so that rows rounded up to whole blocks do not pass it. */
  private val MostRows = Int.MaxValue - (1L << 16)

  /** Cuts a range into parts that differ by one at most. */
  private def evenly(from: Long, until: Long, parts: Long): IndexedSeq[(Long, Long)] =
    (0L until parts).map { i =>
      (from + (until - from) * i / parts, from + (until - from) * (i + 1) / parts)
    }
}
