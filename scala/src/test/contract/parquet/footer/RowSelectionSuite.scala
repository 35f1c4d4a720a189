package io.deltaupkeep.parquet.footer

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.BitSet

import scala.jdk.CollectionConverters._
import scala.util.Random

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.{LocalFiles, SplicedFiles}
import io.deltaupkeep.parquet.plan.ChunkTier

import org.apache.parquet.example.data.simple.SimpleGroupFactory
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.InputFile
import org.apache.parquet.schema.{MessageType, MessageTypeParser}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

/** Rows that go when files are merged. */
class RowSelectionSuite extends AnyFunSuite with SplicedFiles with TableDrivenPropertyChecks {

  private def selection(gone: Iterable[Int]): RowSelection = {
    val bits = new BitSet()
    gone.foreach(bits.set(_))
    new RowSelection(bits)
  }

  private def without(file: InputFile, gone: Iterable[Int]): InputRows =
    InputRows(file, Some(() => selection(gone)))

  test("runs are told as they are") {
    val some = selection(Seq(0, 1, 5))
    assert(Seq(0, 1, 2, 5, 6, 100).map(i => some.nextKept(i.toLong)) == Seq(2, 2, 2, 6, 6, 100))
    assert(Seq(0, 2, 5).map(i => some.nextDropped(i.toLong)) == Seq(0, 5, 5))
    assert(some.nextDropped(6) == Long.MaxValue)
    assert(some.kept(0, 6) == 3 && some.kept(1, 3) == 1 && some.kept(5, 10) == 4 && some.kept(3, 3) == 0)
    assert(selection(Nil).keepsAll(0, 1L << 40) && !some.keepsAll(2, 6) && some.keepsAll(2, 5))
  }

  /** What goes of a number of rows. */
  private val patterns = Seq[(String, (Int, Random) => Iterable[Int])](
    "one in a hundred" -> ((rows, random) => (0 until rows).filter(_ => random.nextInt(100) == 0)),
    "every other" -> ((rows, _) => 0 until rows by 2),
    "most" -> ((rows, random) => (0 until rows).filter(_ => random.nextInt(20) != 0)),
    "the first and the last" -> ((rows, _) => Set(0, rows - 1).filter(_ >= 0)),
    "runs" -> { (rows, random) =>
      Iterator
        .iterate(random.nextInt(700))(_ + 1 + random.nextInt(700))
        .takeWhile(_ < rows)
        .grouped(2)
        .flatMap(pair => pair.head until pair.last)
        .toSeq
    },
    "all but one" -> ((rows, _) => (0 until rows).filter(_ != rows / 2))
  )

  test("the rows that stay keep their order and their values") {
    val plain = settings.copy(layout = settings.layout.copy(dictionaryBytes = 0))
    val cases = Table(
      ("settings", "page v2", "row group"),
      (settings, false, 1L << 20),
      (settings, true, 1L << 20),
      (settings, false, 1L << 14),
      (plain, false, 1L << 20),
      (plain.copy(codec = CompressionCodecName.ZSTD), false, 1L << 14),
      (settings.copy(threads = 1, heldFileBytes = 0), true, 1L << 14),
      (settings.copy(copyFromBytes = 1), false, 1L << 14),
      (settings.copy(codec = CompressionCodecName.UNCOMPRESSED), false, 1L << 20)
    )
    val random = new Random(20)
    forAll(cases) { (settings, v2, rowGroup) =>
      for ((pattern, choose) <- patterns) withClue(pattern) {
        withDirectory { directory =>
          val ranges = Seq(0 until 1, 1 until 350, 350 until 3000)
          val files = ranges.zipWithIndex.map { case (range, i) =>
            write(directory.resolve(s"in$i"), range, rowGroup = rowGroup, v2 = v2)
          }
          val gone = ranges.map(range => choose(range.size, random).toSet)
          // One file keeps all of its rows.
          val inputs =
            InputRows(files.head) +: files.zip(gone).tail.map { case (file, rows) => without(file, rows) }
          val expected = ranges.head ++ ranges.zip(gone).tail.flatMap { case (range, rows) =>
            range.zipWithIndex.collect { case (row, i) if !rows(i) => row }
          }
          val outcome = done(spliceRows(inputs, directory.resolve("out"), settings))
          assert(outcome.rows == expected.size)
          val read = rowsOf(directory.resolve("out"))
          // Large row groups come before small ones that are collected.
          assert(read.sorted == expected.map(row(schema, _).toString).sorted)
          if (settings.copyFromBytes > 1) assert(read == expected.map(row(schema, _).toString))
          assertExactBounds(directory.resolve("out"), expected)
          val totals = outcome.totals.get
          assert(totals.inputs.rows == 3000 && totals.inputs.dropped == 3000 - expected.size)
        }
      }
    }
  }

  /** The bounds of the column n are those of its rows. */
  private def assertExactBounds(file: Path, rows: Seq[Int]): Unit = {
    val numbers = rows.filter(_ % 3 != 0).map(i => i.toLong * i)
    val reader = ParquetFileReader.open(LocalFiles.input(file))
    try {
      val statistics = reader.getFooter.getBlocks.asScala.map(_.getColumns.get(0).getStatistics).toSeq
      val bounds = statistics.filter(_.hasNonNullValue).map { found =>
        (found.genericGetMin.asInstanceOf[Long], found.genericGetMax.asInstanceOf[Long])
      }
      assert(statistics.map(_.getNumNulls).sum == rows.count(_ % 3 == 0))
      assert(bounds.isEmpty == numbers.isEmpty)
      if (numbers.nonEmpty)
        assert((bounds.map(_._1).min, bounds.map(_._2).max) == ((numbers.min, numbers.max)))
    } finally reader.close()
  }

  test("nothing of a row that goes is left in the file") {
    val uncompressed = settings.copy(codec = CompressionCodecName.UNCOMPRESSED)
    withDirectory { directory =>
      val file = write(directory.resolve("in"), 0 until 2000, rowGroup = 1 << 14)
      val gone = (0 until 2000).filter(i => i % 700 == 333 || i % 50 == 7)
      spliceRows(Seq(without(file, gone)), directory.resolve("out"), uncompressed)
      val bytes = new String(Files.readAllBytes(directory.resolve("out")), UTF_8)
      assert(bytes.contains("text 334") && !bytes.contains("text 333"))
      assert(bytes.contains("y1906") && !bytes.contains("y1907"))
    }
  }

  test("a row group without deleted rows is copied beside one that has some") {
    withDirectory { directory =>
      val file = write(directory.resolve("in"), 0 until 20000, rowGroup = 1 << 16)
      val large = settings.copy(copyFromBytes = 1 << 12)
      val outcome = done(spliceRows(Seq(without(file, Seq(3))), directory.resolve("out"), large))
      assert(outcome.tallies.keySet == Set(ChunkTier.Copy, ChunkTier.Splice))
      assert(outcome.reason == "deleted rows are left out")
      assert(rowsOf(directory.resolve("out")).size == 19999)
    }
  }

  test("a file without a row that stays adds nothing") {
    withDirectory { directory =>
      val gone = without(write(directory.resolve("gone"), 0 until 500, rowGroup = 1 << 14), 0 until 500)
      val whole = InputRows(write(directory.resolve("whole"), 500 until 600))
      assert(done(spliceRows(Seq(gone, whole), directory.resolve("out"))).rows == 100)
      assert(rowsOf(directory.resolve("out")) == (500 until 600).map(row(schema, _).toString))
      assert(done(spliceRows(Seq(gone), directory.resolve("none"))).rows == 0)
      assert(!Files.exists(directory.resolve("none")))
    }
  }

  test("a value that a file does not have is made from the row's position in the file") {
    val table = MessageTypeParser.parseMessageType(
      "message m { optional int64 n; optional int64 id; optional int64 version; }"
    )
    def columns(names: String*) =
      MessageTypeParser.parseMessageType(names.map(name => s"optional int64 $name;").mkString(
        "message m {",
        " ",
        "}"
      ))
    // With an id in every third row, where there is a column of ids.
    def file(path: Path, schema: MessageType, rows: Range): InputFile = {
      val writer = ExampleParquetWriter.builder(LocalFiles.output(path)).withType(schema)
        .withRowGroupSize(1L << 13).withPageSize(1 << 10).build()
      try
        rows.foreach { i =>
          val group = new SimpleGroupFactory(schema).newGroup()
          group.append("n", i.toLong)
          if (schema.containsField("id") && i % 3 == 0) group.append("id", -i.toLong)
          writer.write(group)
        }
      finally writer.close()
      LocalFiles.input(path)
    }
    def fills(base: Long, version: Long) =
      Map("id" -> Fill.RowNumber(base), "version" -> Fill.Constant(version))
    withDirectory { directory =>
      val without = file(directory.resolve("without"), columns("n"), 0 until 3000)
      val some = file(directory.resolve("some"), columns("n", "id"), 3000 until 8000)
      val gone = Seq((0 until 3000 by 7).toSet, (0 until 5000 by 11).toSet)
      val inputs = Seq(
        InputRows(without, Some(() => selection(gone(0))), fills = fills(10000, 5)),
        InputRows(some, Some(() => selection(gone(1))), fills = fills(20000, 6))
      )
      for ((small, i) <- Seq(settings, settings.copy(copyFromBytes = 1)).zipWithIndex) {
        val out = directory.resolve(s"out$i")
        val outcome = done(spliceRows(inputs, out, small, table))
        val first = (0 until 3000).filterNot(gone(0)).map(i => s"n: $i\nid: ${10000 + i}\nversion: 5\n")
        val second = (0 until 5000).filterNot(gone(1)).map { i =>
          val n = 3000 + i
          s"n: $n\nid: ${if (n % 3 == 0) -n else 20000 + i}\nversion: 6\n"
        }
        assert(rowsOf(out) == first ++ second)
        assert(outcome.totals.get.output.leaves(Seq("id")).nulls.contains(0L))
      }
      // Without rows that go, a row group whose ids are all there is copied, and others are filled.
      val whole = inputs.map(_.copy(selection = None))
      done(spliceRows(whole, directory.resolve("whole"), settings.copy(copyFromBytes = 1), table))
      val ids = rowsOf(directory.resolve("whole")).map(_.linesIterator.drop(1).next().drop(4).toInt)
      val expected = (10000 until 13000) ++ (3000 until 8000).map(n => if (n % 3 == 0) -n else n + 17000)
      assert(ids.zip(expected).find { case (a, b) => a != b }.isEmpty && ids.size == expected.size)
    }
  }

  test("a row that the file does not have cannot be deleted") {
    withDirectory { directory =>
      val file = write(directory.resolve("in"), 0 until 100)
      val error = intercept[UnreadableInput] {
        spliceRows(Seq(without(file, Seq(100))), directory.resolve("out"))
      }
      assert(error.getMessage.contains("row 100 is said to be deleted, and the file has 100 rows"))
      assert(error.file == directory.resolve("in").toString)
    }
  }
}
