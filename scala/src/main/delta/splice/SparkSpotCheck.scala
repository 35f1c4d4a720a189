package org.apache.spark.sql.delta.upkeep.splice

import scala.util.{Random, Using}
import scala.util.control.NonFatal

import io.deltaupkeep.SideBySide
import io.deltaupkeep.parquet.file.{PlacedRows, SpliceOutcome}
import io.deltaupkeep.parquet.footer.RowSelection
import io.deltaupkeep.parquet.gather.SampledRow

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.HadoopReadOptions
import org.apache.parquet.hadoop.BadConfigurationException

import org.apache.spark.TaskContext
import org.apache.spark.sql.delta.upkeep.spark.{
  ChunkBounds,
  ParquetReading,
  ParquetRows,
  SameValue,
  TaskAttempts,
  ValueWatch
}

/**
 * Reads some rows of a new file and of its inputs with Spark's Parquet reader, and compares them: a few consecutive
 * rows of one input of each kind, and of some more inputs at random. The values of the new file must lie within the
 * bounds of its row groups and pages.
 *
 * @param more        inputs to check in addition to one of each kind
 * @param mostBytes   of a row group without page index, which has to be read whole
 */
private[upkeep] final class SparkSpotCheck(reading: ParquetReading, more: Int, mostBytes: Long)
    extends SpotCheck {
  import SparkSpotCheck._

  override def findingIn(
      file: SpliceInput,
      inputs: IndexedSeq[SpliceInput],
      done: SpliceOutcome.Done,
      conf: Configuration
  ): Option[Finding] = {
    val starts = done.placed.scanLeft(0L)(_ + _.rows)
    val runs = done.placed.zip(starts).filter(_._1.rows > 0).groupBy(_._1.input)
    val samples = chosen(done, runs.keySet).map { i =>
      val (run, start) = Random.shuffle(runs(i)).head
      Sample(file, run, start)
    }
    findingOf(samples, inputs, conf)
  }

  override def findingIn(
      files: Seq[(SpliceInput, Seq[SampledRow])],
      inputs: IndexedSeq[SpliceInput],
      conf: Configuration
  ): Option[Finding] = {
    val samples =
      for ((file, rows) <- files; row <- rows)
        yield Sample(file, PlacedRows(row.input, row.row, stored = 1, rows = 1), row.at)
    findingOf(samples, inputs, conf)
  }

  private def findingOf(
      samples: Seq[Sample],
      inputs: IndexedSeq[SpliceInput],
      conf: Configuration
  ): Option[Finding] = {
    val own = reading.configured(conf)
    def open(input: SpliceInput): ParquetRows = {
      // Its codecs are not thread-safe.
      val options = HadoopReadOptions.builder(own).build()
      new ParquetRows(new HadoopInput(input, HadoopInput.RandomAccess, own), reading, own, options)
    }
    def findingIn(sample: Sample): Option[Finding] = {
      import sample._
      val input = inputs(run.input)
      val selection = input.deletedRows.fold(RowSelection.none)(_.read(conf))
      Using.resources(open(input), open(file))(compare(input, _, selection, run, start, _))
    }
    val task = Option(TaskContext.get())
    val findings = SideBySide.map(samples, "delta-upkeep-spot-check", Threads) { sample =>
      task.foreach(TaskAttempts.stopIfKilled)
      try findingIn(sample)
      catch {
        // Chunks with a codec that Spark lacks are copied as bytes, and cannot be read here.
        case _: BadConfigurationException => None
        // Reading all rows tells whose fault it is.
        case NonFatal(problem) => Some(Finding.OfRows(s"A spot check of ${sample.file.uri} failed: $problem"))
      }
    }
    findings.flatten.headOption
  }

  private def chosen(done: SpliceOutcome.Done, withRows: Set[Int]): Seq[Int] = {
    val ofKinds = Random.shuffle(done.kinds.filter(withRows)).take(MostKinds)
    ofKinds ++ Random.shuffle((withRows -- ofKinds).toSeq).take(more)
  }

  /** Compares some rows of a run that begins at row `start` of the new file. */
  private def compare(
      input: SpliceInput,
      rows: ParquetRows,
      selection: RowSelection,
      run: PlacedRows,
      start: Long,
      output: ParquetRows
  ): Option[Finding] = {
    val first = firstRow(rows, selection, run)
    val at = start + selection.kept(run.firstRow, first)
    val (group, offset) = rows.placeOf(first)
    val (newGroup, newOffset) = output.placeOf(at)
    val stored = Seq(MostRows.toLong, run.end - first, rows.rowGroups(group).getRowCount - offset).min.toInt
    val kept = (0 until stored).filter(i => selection.keepsAll(first + i, first + i + 1))
    val count = math.min(kept.size.toLong, output.rowGroups(newGroup).getRowCount - newOffset).toInt
    if (!isCheap(rows, group) || !isCheap(output, newGroup)) None
    else {
      val before = rows.read(group, offset, stored)
      val bounds = new BoundsWatch(output.boundsOf(newGroup, newOffset, count))
      val after = output.read(newGroup, newOffset, count, Some(bounds.of))
      val differences =
        for {
          i <- (0 until count).iterator
          row = first + kept(i)
          (field, column) <- reading.schema.fields.iterator.zipWithIndex
          expected = valueOf(input, field.name, row, before(kept(i))(column))
          if !SameValue(field.dataType, expected, after(i)(column))
        } yield Finding.OfRows(
          s"Row ${at + i} of the new file has another value in column ${field.name} than row $row of ${input.uri}."
        )
      differences.nextOption().orElse(bounds.finding)
    }
  }

  private def valueOf(input: SpliceInput, column: String, row: Long, stored: Any): Any =
    if (stored == null) input.fills.get(column).fold[Any](null)(_.at(row)) else stored

  private def isCheap(rows: ParquetRows, group: Int): Boolean =
    rows.hasPageIndex(group) || rows.bytesOf(group) <= mostBytes

  /** A row of the run that is kept, near the start of its row group if all rows before it have to be read. */
  private def firstRow(rows: ParquetRows, selection: RowSelection, run: PlacedRows): Long = {
    val drawn = run.firstRow + (Random.nextDouble() * run.stored).toLong
    val (group, offset) = rows.placeOf(drawn)
    val near =
      if (rows.hasPageIndex(group)) drawn else math.max(run.firstRow, drawn - offset + offset % FewRows)
    val kept = selection.nextKept(near)
    if (kept < run.end) kept else selection.nextKept(run.firstRow)
  }
}

private[upkeep] object SparkSpotCheck {

  /** Consecutive rows that are compared per input. */
  private val MostRows = 8

  /** Samples that are compared in parallel. */
  private val Threads = 2

  /** More kinds than that in one bin are sampled at random. */
  private val MostKinds = 8

  /** Without a page index, a row is chosen among this many. */
  private val FewRows = 1000

  /** A run of rows of an input that begins at row `start` of a new file; some of it are compared. */
  private final case class Sample(file: SpliceInput, run: PlacedRows, start: Long)

  private final class BoundsWatch(bounds: Map[Seq[String], ChunkBounds]) {
    private var found = Option.empty[Finding]

    def finding: Option[Finding] = found

    def of(path: Seq[String]): ValueWatch = {
      val column = bounds.get(path)
      value =>
        if (found.isEmpty && !column.forall(_.allow(value)))
          found = Some(
            Finding.OfBounds(
              s"column ${path.mkString(".")} of the new file would have a value outside its own bounds"
            )
          )
    }
  }
}
