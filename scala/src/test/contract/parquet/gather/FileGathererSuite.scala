package io.deltaupkeep.parquet.gather

import java.nio.file.{Files, Path}
import java.util.BitSet

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Random

import io.deltaupkeep.parquet.{LocalFiles, SplicedFiles}
import io.deltaupkeep.parquet.cut.{Curve, KeyOrder, Lexicographic, RowRanges}
import io.deltaupkeep.parquet.file.{SpliceOutcome, SpliceRequest}
import io.deltaupkeep.parquet.footer.{InputRows, RowSelection}
import io.deltaupkeep.parquet.plan.SpliceSettings

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.example.data.simple.SimpleGroupFactory
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.InputFile
import org.apache.parquet.schema.{MessageType, MessageTypeParser}
import org.scalatest.funsuite.AnyFunSuite

/** Files whose rows are put in order, with parquet-java alone: no Spark, no Delta. */
class FileGathererSuite extends AnyFunSuite with SplicedFiles {

  private def gatherer(
      inputs: Seq[InputRows],
      settings: SpliceSettings = settings,
      keys: Seq[String] = Seq("n"),
      table: MessageType = schema
  ): FileGatherer = {
    val request = SpliceRequest(inputs, table, Map("k" -> "v"), _ => None)
    new FileGatherer(request, keys.map(_.split('.').toSeq), settings, new Configuration(false))
  }

  /** The outcome, and what was said of each new file. */
  private def run(
      gatherer: FileGatherer,
      directory: Path,
      goOn: () => Unit = () => (),
      order: KeyOrder = Curve.ZOrder
  ): (SpliceOutcome, Seq[GatheredFile]) = {
    val written = mutable.ArrayBuffer.empty[GatheredFile]
    val outcome = gatherer.run(
      SortedRows(order, files = 3),
      i => LocalFiles.output(directory.resolve(s"out$i")),
      file => { written += file; () },
      goOn = goOn
    )
    (outcome, written.toVector)
  }

  private def reasonOf(outcome: SpliceOutcome): String = outcome match {
    case refused: SpliceOutcome.Refused => refused.reason
    case done => fail(done.toString)
  }

  private val cases = Seq(
    settings,
    settings.copy(layout = settings.layout.copy(dictionaryBytes = 0)),
    settings.copy(layout = settings.layout.copy(pageBytes = 0)),
    settings.copy(layout = settings.layout.copy(pageRows = Int.MaxValue)),
    settings.copy(threads = 1, heldFileBytes = 0, rowGroupBytes = 1 << 12),
    settings.copy(codec = CompressionCodecName.ZSTD)
  )

  test("each row is in one file, in the order of its key, with all of its columns") {
    for (settings <- cases; v2 <- Seq(false, true)) withDirectory { directory =>
      val ranges = Seq(0 until 1, 1 until 350, 350 until 350, 350 until 3000)
      val inputs = ranges.zipWithIndex.map { case (range, i) =>
        InputRows(write(
          directory.resolve(s"in$i"),
          range,
          rowGroup = if (i == 3) 1 << 12 else 1 << 20,
          v2 = v2
        ))
      }
      val (outcome, written) = run(gatherer(inputs, settings), directory)
      assert(done(outcome).rows == 3000)
      assert(written.map(_.rows) == Seq(1000, 1000, 1000))
      // Rows without a number come first, in their order; the numbers are squares.
      val sorted = (0 until 3000).sortBy(i => if (i % 3 == 0) (-1, i) else (i, 0))
      val read = (0 until 3).flatMap(i => rowsOf(directory.resolve(s"out$i")))
      assert(read == sorted.map(row(schema, _).toString))
      val preview = done(gatherer(inputs, settings).preview(3))
      assert(preview == done(outcome).copy(tallies = Map.empty, totals = None))
      val rowGroups = (0 until 3).map { i =>
        val reader = ParquetFileReader.open(named(directory.resolve(s"out$i")))
        try reader.getFooter.getBlocks.asScala.map(_.getRowCount)
        finally reader.close()
      }
      assert(rowGroups.map(_.sum) == Seq(1000, 1000, 1000))
      assert(rowGroups.map(_.size).sum == done(outcome).rowGroupsAfter)
    }
  }

  test("deleted rows are gone, and a sample says where rows came from") {
    withDirectory { directory =>
      val gone = new BitSet
      (100 until 600).filter(_ % 2 == 0).foreach(gone.set)
      val selection = new RowSelection(gone)
      val ranges = Seq(0 until 1000, 1000 until 1500)
      val files = ranges.zipWithIndex.map { case (range, i) =>
        write(directory.resolve(s"in$i"), range, rowGroup = 1 << 12)
      }
      val inputs = Seq(InputRows(files.head, Some(() => selection), 1000), InputRows(files(1)))
      val (outcome, written) = run(gatherer(inputs, keys = Seq("s.x", "text")), directory)
      assert(done(outcome).rows == 1250)
      val expected = (0 until 1500).filterNot(gone.get).map(row(schema, _).toString)
      val read = written.map(file => rowsOf(directory.resolve(s"out${file.index}")))
      assert(read.flatten.sorted == expected.sorted)
      assert(written.map(_.followed.sample.size).sum >= written.size)
      for (file <- written; sampled <- file.followed.sample) {
        val from = row(schema, ranges(sampled.input)(sampled.row.toInt)).toString
        assert(read(file.index)(sampled.at.toInt) == from)
      }
    }
  }

  test("marked rows are found where they went, by the keys alone too") {
    for (seed <- 0 until 12) withDirectory { directory =>
      val random = new Random(seed)
      def draw(rows: Range): BitSet = {
        val drawn = new BitSet
        var row = random.nextInt(40)
        while (row < rows.size) {
          // Runs, some of them across row groups.
          val end = math.min(rows.size, row + 1 + random.nextInt(1 << random.nextInt(8)))
          drawn.set(row, end)
          row = end + 1 + random.nextInt(1 << random.nextInt(8))
        }
        drawn
      }
      val ranges = Seq(0 until 700, 700 until 701, 701 until 701, 701 until 1100, 1100 until 1500)
      val gone = ranges.map(rows => if (random.nextBoolean()) draw(rows) else new BitSet)
      val late = ranges.map(draw)
      gone.zip(late).foreach { case (before, now) => now.or(before) }
      val marks = late.map(rows =>
        random.nextInt(4) match {
          case 0 => RowMarks.NoRows
          case 1 => RowMarks.AllRows
          case _ => RowMarks.Dropped(new RowSelection(rows))
        }
      )
      val files = ranges.zipWithIndex.map { case (rows, i) =>
        val file = write(directory.resolve(s"in$i"), rows, rowGroup = 1 << (9 + random.nextInt(8)))
        InputRows(file, Option.unless(gone(i).isEmpty)(() => new RowSelection(gone(i))))
      }
      val order = GatherOrder(
        Seq(Seq("s", "x"), Seq("text")),
        if (random.nextBoolean()) Curve.Hilbert else Lexicographic(IndexedSeq(false, true)),
        outputs = 3
      )
      def followed: Seq[GatheredFile] = {
        val ordered = gatherer(files, settings, Seq("s.x", "text"))
        val written = mutable.ArrayBuffer.empty[GatheredFile]
        val outputs = (i: Int) => LocalFiles.output(directory.resolve(s"out$i"))
        val run = SortedRows(order.order, order.outputs)
        done(ordered.run(run, outputs, file => { written += file; () }, marks = marks.toIndexedSeq))
        written.toVector
      }
      val written = followed
      val expected = for {
        i <- ranges.indices
        row <- ranges(i).indices if !gone(i).get(row)
        if marks(i) == RowMarks.AllRows || marks(i) != RowMarks.NoRows && late(i).get(row)
      } yield this.row(schema, ranges(i)(row)).toString
      val found = written.flatMap { file =>
        val rows = rowsOf(directory.resolve(s"out${file.index}"))
        file.followed.marked.stream.toArray.map(rows(_))
      }
      assert(found.sorted == expected.sorted, s"seed $seed")
      val keys = order.keysIn(schema)
      assert(keys.getFields.asScala.map(_.getName).toSet == Set("s", "text"))
      assert(keys.getColumns.size == 2)
      def follow(inputs: Seq[InputRows], marks: Seq[RowMarks]) =
        gatherer(inputs, settings, Seq("s.x", "text"), keys)
          .follow(SortedRows(order.order, order.outputs), marks.toIndexedSeq, () => ())
          .fold(
            why => fail(why.reason),
            _.map(file => (file.rows, file.followed.fingerprint, file.followed.marked))
          )
      assert(follow(files, marks) ==
        written.map(file => (file.rows, file.followed.fingerprint, file.followed.marked)))
      // As many rows, in another order.
      val others = follow(files.reverse, marks.reverse).map(_._2).toSet
      assert(others.intersect(written.map(_.followed.fingerprint).toSet).isEmpty)
    }
  }

  test("rows that are there again, or that no file has, are not followed") {
    withDirectory { directory =>
      val gone = new BitSet
      gone.set(3)
      val file = InputRows(write(directory.resolve("in"), 0 until 10), Some(() => new RowSelection(gone)))
      for (now <- Seq(Seq.empty, Seq(4), Seq(3, 10))) {
        val late = new BitSet
        now.foreach(late.set)
        val marks = IndexedSeq(RowMarks.Dropped(new RowSelection(late)))
        val found = gatherer(Seq(file)).follow(SortedRows(Curve.ZOrder, files = 1), marks, () => ())
        assert(found.swap.exists(_.reason.contains("rows again")), now.toString)
      }
    }
  }

  test("no rows make no file, and few rows few files") {
    withDirectory { directory =>
      val inputs = Seq(InputRows(write(directory.resolve("in0"), 0 until 0)))
      val (outcome, written) = run(gatherer(inputs), directory)
      assert(done(outcome).rows == 0 && written.isEmpty && !Files.exists(directory.resolve("out0")))
      val few = Seq(InputRows(write(directory.resolve("in1"), 0 until 2)))
      assert(run(gatherer(few), directory)._2.map(_.rows) == Seq(1, 1))
    }
  }

  test("rows that parts of a bin send to ranges are there in order, each once, whoever takes them") {
    val texts = Seq("text", "n")
    val cases = for {
      rowGroup <- Seq(1 << 12, 1 << 20)
      (keys, order) <- Seq(
        Seq("n") -> Curve.ZOrder,
        texts -> Lexicographic(IndexedSeq(true, false)),
        texts -> Curve.Hilbert
      )
    } yield (rowGroup, keys, order)
    for ((rowGroup, keys, order) <- cases) withDirectory { directory =>
      val gone = new BitSet
      (0 until 300).filter(_ % 7 == 0).foreach(gone.set)
      val files = Seq(0 until 1, 1 until 1200, 1200 until 1200, 1200 until 3000).zipWithIndex.map {
        case (range, i) =>
          InputRows(
            write(directory.resolve(s"in$i"), range, rowGroup = rowGroup),
            Option.when(i == 1)(() => new RowSelection(gone))
          )
      }
      val parts = FilePart.divided(IndexedSeq(1L, 1200L, 0L, 1800L), ofTask = 700)
      assert(parts.size > 3 && parts.flatten.exists(_.slice.of > 1))
      val ofParts = parts.map(_.map(part => files(part.file).copy(slice = part.slice)))
      val sampled =
        ofParts.map(gatherer(_, keys = keys).sample(most = 200).fold(why => fail(why.reason), identity))
      val expected = (0 until 3000).filterNot(i => i > 0 && i < 1200 && gone.get(i - 1))
      assert(sampled.map(_.keys.rows).sum == expected.size)
      val footers = sampled.map(_.inputs).reduce(_ and _)
      assert(footers.rows == 3000 && footers.dropped == 3000 - expected.size)
      val ranges = RowRanges.of(sampled.map(_.keys), order, 4)
      val pieces = ofParts.indices.flatMap { part =>
        val outputs = IndexedSeq.fill(ranges.count)(new PieceOutput)
        val stored = mutable.ArrayBuffer.empty[(Int, Piece)]
        done(gatherer(ofParts(part), keys = keys).run(
          DividedRows(ranges, part, parts.size),
          outputs(_),
          file => {
            val piece = Piece.read(outputs(file.index).taken(part, file.rows, file.followed))
            stored += file.index -> piece.fold(why => fail(why.reason), identity)
          }
        ))
        stored
      }
      val outcomes = (0 until ranges.count).map { range =>
        val ofRange = pieces.filter(_._1 == range).map(_._2).sortBy(_.part)
        // None is much larger than the others.
        assert(math.abs(ofRange.map(_.rows).sum - expected.size / 4) < expected.size / 8)
        val inputs = ofRange.map(piece => InputRows(piece.file(s"piece ${piece.part}")))
        val wanted = for (i <- ofRange.indices; row <- ofRange(i).followed.sample) yield (i, row.at)
        val found = mutable.ArrayBuffer.empty[SampledRow]
        val outcome = gatherer(inputs, keys = keys).run(
          SortedRows(order, files = 1),
          _ => LocalFiles.output(directory.resolve(s"out$range")),
          file => { found ++= file.followed.sample; () },
          Some(wanted)
        )
        assert(found.map(row => (row.input, row.row)).toSet == wanted.toSet)
        val read = rowsOf(directory.resolve(s"out$range"))
        // Each sampled row is what the original has.
        for (row <- found) {
          val piece = ofRange(row.input)
          val origin = piece.followed.sample.find(_.at == row.row).get
          val of = parts(piece.part)(origin.input).file
          val first = Seq(0, 1, 1200, 1200)(of)
          assert(read(row.at.toInt) == this.row(schema, first + origin.row.toInt).toString)
        }
        done(outcome)
      }
      val read = (0 until ranges.count).map(i => rowsOf(directory.resolve(s"out$i")))
      assert(read.flatten.sorted == expected.map(row(schema, _).toString).sorted)
      val all = outcomes.reduce(_ and _)
      assert(all.rows == expected.size && all.totals.exists(_.output.rows == expected.size))
      if (!order.isInstanceOf[Curve] || keys.size == 1) {
        // The same order as one task makes.
        val whole = Files.createDirectory(directory.resolve("whole"))
        val (_, written) = run(gatherer(files, keys = keys), whole, order = order)
        assert(read.flatten == written.flatMap(file => rowsOf(whole.resolve(s"out${file.index}"))))
      }
    }
  }

  test("what cannot be put in order here is refused with its reason, before and after the pages are read") {
    withDirectory { directory =>
      val inputs = Seq(InputRows(write(directory.resolve("in0"), 0 until 3000)))
      def why(gatherer: => FileGatherer): String = {
        val reason = reasonOf(gatherer.preview(3))
        assert(reasonOf(run(gatherer, directory)._1) == reason)
        reason
      }
      for (key <- Seq("s", "nope", "l.list.element"))
        assert(why(gatherer(inputs, keys = Seq("n", key))).contains("a key is not a column of its own"))
      assert(
        why(gatherer(inputs, settings.copy(gatherBytes = 1 << 16))).startsWith("to sort 3000 rows takes")
      )
      val wide = MessageTypeParser.parseMessageType("message m { optional int64 n; optional binary text; }")
      val texts =
        Seq(InputRows(writeTexts(directory.resolve("in1"), wide, Seq.fill(200)("x" * 5000), v2 = false)))
      def wideGatherer = gatherer(texts, settings.copy(gatherBytes = 1 << 19), table = wide)
      assert(why(wideGatherer).matches("column text takes .* of memory, more than the 512.0 KiB allowed"))
      // Texts that begin alike are stored once, so only the pages tell how long they are.
      val alike = (0 until 500).map(i => "x" * 10000 + i)
      val hidden = Seq(InputRows(writeTexts(directory.resolve("in2"), wide, alike, v2 = true)))
      def hiddenGatherer = gatherer(hidden, settings.copy(gatherBytes = 1 << 20), table = wide)
      assert(hiddenGatherer.preview(3).isInstanceOf[SpliceOutcome.Done])
      assert(reasonOf(run(hiddenGatherer, directory)._1).contains("of memory"))
      // As keys too, and several tasks may have room for them.
      val byText = gatherer(hidden, settings.copy(gatherBytes = 1 << 20), Seq("text"), wide)
      val refused = byText.sample(most = 10).swap.toOption.map(_.inputs.head._2)
      assert(refused.exists(why => why.reason.contains("of memory") && why.times > 1))
    }
  }

  test("more tasks are asked for only where there are row groups to give them") {
    withDirectory { directory =>
      for ((rowGroup, isDivisible) <- Seq((1 << 20) -> false, (1 << 14) -> true)) {
        val input = InputRows(write(directory.resolve(s"in$rowGroup"), 0 until 3000, rowGroup = rowGroup))
        val small = gatherer(Seq(input), settings.copy(gatherBytes = 1 << 16))
        val preview = small.preview(3) match {
          case SpliceOutcome.Refused(inputs) => inputs.head._2
          case done => fail(done.toString)
        }
        val sampled = small.sample(most = 10).swap.map(_.inputs.head._2).getOrElse(fail("a sample"))
        assert(Seq(preview.times > 1, sampled.times > 1) == Seq(isDivisible, isDivisible), preview.reason)
      }
    }
  }

  test("a list that does not fit into a page of a new file is refused") {
    val lists = MessageTypeParser.parseMessageType(
      "message m { optional int64 n; optional group l (LIST) { repeated group list { optional binary element; } } }"
    )
    withDirectory { directory =>
      val file = directory.resolve("in")
      val writer = ExampleParquetWriter.builder(LocalFiles.output(file)).withType(lists).build()
      val group = new SimpleGroupFactory(lists).newGroup().append("n", 1L)
      val list = group.addGroup("l")
      // Stored once, and referred to by ids.
      (0 until 2000).foreach(_ => list.addGroup("list").append("element", "x" * 1000))
      try writer.write(group)
      finally writer.close()
      val tight = settings.copy(gatherBytes = 1 << 20)
      val (outcome, _) = run(gatherer(Seq(InputRows(named(file))), tight, table = lists), directory)
      assert(reasonOf(outcome).contains("of memory"))
    }
  }

  test("work that has to stop stops, and what stopped it is thrown") {
    withDirectory { directory =>
      val inputs = Seq(InputRows(write(directory.resolve("in0"), 0 until 3000)))
      for (calls <- Seq(0, 1, 5, 8)) {
        val left = new java.util.concurrent.atomic.AtomicInteger(calls)
        val stopped = intercept[IllegalStateException] {
          run(
            gatherer(inputs),
            directory,
            () => if (left.getAndDecrement() <= 0) throw new IllegalStateException("stop")
          )
        }
        assert(stopped.getMessage == "stop")
      }
    }
  }

  private def writeTexts(file: Path, schema: MessageType, texts: Seq[String], v2: Boolean): InputFile = {
    import org.apache.parquet.column.ParquetProperties.WriterVersion
    val writer = ExampleParquetWriter.builder(LocalFiles.output(file)).withType(schema)
      .withWriterVersion(if (v2) WriterVersion.PARQUET_2_0 else WriterVersion.PARQUET_1_0)
      .withDictionaryEncoding(false).build()
    val factory = new SimpleGroupFactory(schema)
    try texts.zipWithIndex.foreach { case (text, i) =>
        writer.write(factory.newGroup().append("n", i.toLong).append("text", text))
      }
    finally writer.close()
    named(file)
  }
}
