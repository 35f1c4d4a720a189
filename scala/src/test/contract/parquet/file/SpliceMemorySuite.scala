package io.deltaupkeep.parquet.file

import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.AtomicInteger
import java.util.regex.Pattern

import scala.jdk.CollectionConverters._
import scala.util.{Random, Using}

import io.deltaupkeep.parquet.{LocalFiles, SmallSpliceSettings}
import io.deltaupkeep.parquet.footer.InputRows
import io.deltaupkeep.parquet.plan.SpliceSettings

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.example.data.Group
import org.apache.parquet.example.data.simple.SimpleGroupFactory
import org.apache.parquet.hadoop.{ParquetFileReader, ParquetReader}
import org.apache.parquet.hadoop.api.ReadSupport
import org.apache.parquet.hadoop.example.{ExampleParquetWriter, GroupReadSupport}
import org.apache.parquet.hadoop.metadata.{BlockMetaData, CompressionCodecName}
import org.apache.parquet.io.{DelegatingSeekableInputStream, InputFile, SeekableInputStream}
import org.apache.parquet.schema.{MessageType, MessageTypeParser}
import org.scalatest.funsuite.AnyFunSuite

/** What is held while files are spliced is bounded by the settings, whatever the files hold. */
class SpliceMemorySuite extends AnyFunSuite {
  import SpliceMemorySuite._

  private val settings = SmallSpliceSettings()
  private val pageBytes = settings.layout.pageBytes

  private val text = MessageTypeParser.parseMessageType("message m { optional binary text (STRING); }")
  private val list = MessageTypeParser.parseMessageType(
    "message m { optional group l (LIST) { repeated group list { optional binary element (STRING); } } }"
  )

  private def withDirectory(body: Path => Unit): Unit = {
    val directory = Files.createTempDirectory("memory")
    try body(directory)
    finally Files.walk(directory).iterator.asScala.toSeq.reverse.foreach(Files.delete)
  }

  private def textRow(value: String): Group =
    new SimpleGroupFactory(text).newGroup().append("text", value)

  private def listRow(values: Seq[Option[String]]): Group = {
    val row = new SimpleGroupFactory(list).newGroup()
    val elements = row.addGroup("l")
    values.foreach { value =>
      val element = elements.addGroup("list")
      value.foreach(element.append("element", _))
    }
    row
  }

  private def write(file: Path, schema: MessageType, rows: Seq[Group], v2: Boolean = false): InputFile = {
    val writer = ExampleParquetWriter
      .builder(LocalFiles.output(file))
      .withType(schema)
      .withDictionaryEncoding(!v2)
      .withWriterVersion(if (v2) WriterVersion.PARQUET_2_0 else WriterVersion.PARQUET_1_0)
      .withCompressionCodec(CompressionCodecName.SNAPPY)
      .build()
    try rows.foreach(writer.write)
    finally writer.close()
    LocalFiles.input(file)
  }

  private def splice(
      inputs: Seq[InputFile],
      to: Path,
      table: MessageType,
      settings: SpliceSettings = settings
  ): SpliceOutcome = {
    val request = SpliceRequest(inputs.map(InputRows(_)), table, Map.empty, _ => None)
    new FileSplicer(request, settings, new Configuration(false)).run(LocalFiles.output(to))
  }

  private def rowsOf(file: Path): Seq[String] = {
    val reader = new ParquetReader.Builder[Group](LocalFiles.input(file)) {
      override def getReadSupport: ReadSupport[Group] = new GroupReadSupport
    }.build()
    Using.resource(reader)(open =>
      Iterator.continually(open.read()).takeWhile(_ != null).map(_.toString).toSeq
    )
  }

  /** The rows of each page of the first column. */
  private def pagesOf(file: Path): Seq[Range] = reading(file) { reader =>
    reader.getFooter.getBlocks.asScala.toSeq.flatMap { group =>
      val index = reader.readOffsetIndex(group.getColumns.get(0))
      val start = group.getRowIndexOffset.toInt
      (0 until index.getPageCount).map { page =>
        val first = index.getFirstRowIndex(page).toInt
        start + first to start + index.getLastRowIndex(page, group.getRowCount).toInt
      }
    }
  }

  private def rowGroupsOf(file: Path): Seq[BlockMetaData] = reading(file)(_.getFooter.getBlocks.asScala.toSeq)

  private def reading[T](file: Path)(body: ParquetFileReader => T): T =
    Using.resource(ParquetFileReader.open(LocalFiles.input(file)))(body)

  private val huge = Seq("a", "b", "c").map(_ * 3000)

  for (
    one <- Seq(
      PageCase(
        "one large value in each file, until no dictionary holds them all",
        text,
        huge.map(value => Seq.fill(500)(textRow(value))),
        _ => 3004
      ),
      PageCase(
        "a large value beside many small ones",
        text,
        Seq.fill(2)(Seq.tabulate(500)(i => textRow(if (i < 400) "x" else huge.head))),
        i => if (i % 500 < 400) 5 else 3004
      ),
      PageCase(
        "long lists of nulls",
        list,
        Seq.fill(2)(Seq.fill(100)(listRow(Seq.fill(1000)(None) :+ Some("x")))),
        // A bit for the repetition level, two for the definition level.
        _ => 5 + 1001 * 3 / 8
      )
    )
  ) test(s"a page is cut by its levels and PLAIN values, whatever takes their place: ${one.what}") {
    withDirectory { directory =>
      val inputs = one.files.zipWithIndex.map { case (rows, i) =>
        write(directory.resolve(s"in$i"), one.schema, rows)
      }
      val out = directory.resolve("out")
      val outcome = splice(inputs, out, one.schema)
      assert(outcome.isInstanceOf[SpliceOutcome.Done], outcome)
      assert(rowsOf(out) == one.files.flatten.map(_.toString))
      val pages = pagesOf(out)
      assert(pages.map(_.size).sum == one.files.map(_.size).sum)
      // The last row of a page may go beyond its size.
      assert(pages.forall(_.init.map(one.bytesOf).sum <= pageBytes), pages.map(_.map(one.bytesOf).sum))
      // And none is cut before it is full, but the last one.
      val cut = pages.init.filter(page => page.size < settings.layout.pageRows)
      assert(cut.forall(_.map(one.bytesOf).sum > pageBytes * 9 / 10), cut.map(_.map(one.bytesOf).sum))
    }
  }

  test("row groups whose dictionaries do not fit into one are merged as far as memory allows") {
    withDirectory { directory =>
      val random = new Random(1)
      // A file takes about 4 KB, and 100 KB once its values are PLAIN.
      val files = Seq.fill(40) {
        val values = Seq.fill(3)(random.alphanumeric.take(1000).mkString)
        Seq.tabulate(100)(i => textRow(values(i % 3)))
      }
      val inputs = files.zipWithIndex.map { case (rows, i) => write(directory.resolve(s"in$i"), text, rows) }
      val out = directory.resolve("out")
      val tight = settings.copy(bytesInFlight = 1 << 20, codec = CompressionCodecName.UNCOMPRESSED)
      val outcome = splice(inputs, out, text, tight)
      assert(rowsOf(out) == files.flatten.map(_.toString))
      val groups = rowGroupsOf(out)
      outcome match {
        case done: SpliceOutcome.Done =>
          assert((done.rowGroupsBefore, done.rowGroupsAfter, done.rows) == ((40, groups.size, 4000L)))
        case refused: SpliceOutcome.Refused => fail(refused.reason)
      }
      assert(groups.size > 1 && groups.map(_.getCompressedSize).max <= tight.heldRowGroupBytes, groups.size)
    }
  }

  test("columns whose pages do not fit into memory together are spliced one after another") {
    withDirectory { directory =>
      val names = ('a' to 'h').map(_.toString)
      val wide = MessageTypeParser.parseMessageType(
        names.map(name => s"required binary $name (STRING);").mkString("message m { ", " ", " }")
      )
      val rows = (0 until 400).map { i =>
        val row = new SimpleGroupFactory(wide).newGroup()
        names.foreach(name => row.append(name, s"$name$i" + "x" * 100))
        row
      }
      val inputs = Seq("in0", "in1").map(name => write(directory.resolve(name), wide, rows))
      // A page takes 47 KB, and all threads 64 KB.
      val tight = settings.copy(bytesInFlight = 1 << 17, threads = 8)
      val outcome = splice(inputs, directory.resolve("out"), wide, tight)
      assert(outcome.isInstanceOf[SpliceOutcome.Done], outcome)
      assert(rowsOf(directory.resolve("out")) == (rows ++ rows).map(_.toString))
    }
  }

  test("footers count: of files that are read in ranges few are open at a time") {
    withDirectory { directory =>
      val names = (0 until 100).map(i => s"column_$i")
      val wide = MessageTypeParser.parseMessageType(
        names.map(name => s"required int32 $name;").mkString("message m { ", " ", " }")
      )
      val row = new SimpleGroupFactory(wide).newGroup()
      names.indices.foreach(i => row.append(names(i), i))
      val open = new AtomicInteger
      val most = new AtomicInteger
      val inputs = (0 until 40).map { i =>
        val file = write(directory.resolve(s"in$i"), wide, Seq(row))
        new InputFile {
          override def getLength: Long = file.getLength
          override def toString: String = file.toString
          override def newStream(): SeekableInputStream = {
            most.accumulateAndGet(open.incrementAndGet(), math.max(_, _))
            val stream = file.newStream()
            new DelegatingSeekableInputStream(stream) {
              override def getPos: Long = stream.getPos
              override def seek(to: Long): Unit = stream.seek(to)
              override def close(): Unit = {
                open.decrementAndGet()
                stream.close()
              }
            }
          }
        }
      }
      val tight = settings.copy(bytesInFlight = 1 << 19, heldFileBytes = 0)
      val outcome = splice(inputs, directory.resolve("out"), wide, tight)
      assert(outcome.isInstanceOf[SpliceOutcome.Done], outcome)
      assert(rowsOf(directory.resolve("out")).size == 40)
      assert(most.get < 10, most)
    }
  }

  for (
    (what, schema, rows, hasDeltaEncodings) <- Seq(
      ("values that begin alike, stored once", text, (0 until 500).map(i => textRow("x" * 10000 + i)), true),
      ("a list of many nulls", list, Seq(listRow(Seq.fill(50000)(None))), false),
      ("a list of a large value", list, Seq(listRow(Seq.fill(500)(Some("x" * 1000)))), false)
    )
  ) test(s"a page that does not fit into memory is refused: $what") {
    withDirectory { directory =>
      val tight = settings.copy(bytesInFlight = 1 << 16)
      val inputs =
        Seq("in0", "in1").map(name => write(directory.resolve(name), schema, rows, hasDeltaEncodings))
      splice(inputs, directory.resolve("out"), schema, tight) match {
        case refused: SpliceOutcome.Refused =>
          val why = refused.reason
          val name = Pattern.quote(directory.resolve("in0").toString)
          assert(why.matches(s"a page takes .* of memory, and 32.0 KiB are allowed, in $name"), why)
        case done => fail(done.toString)
      }
      assert(splice(inputs, directory.resolve("roomy"), schema, settings.copy(bytesInFlight = 64 << 20))
        .isInstanceOf[SpliceOutcome.Done])
    }
  }
}

private object SpliceMemorySuite {

  /** `bytesOf` a row of the output, by its index. */
  final case class PageCase(
      what: String,
      schema: MessageType,
      files: Seq[Seq[Group]],
      bytesOf: Int => Int
  )
}
