package io.deltaupkeep.parquet.file

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, FileNotFoundException}
import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}

import scala.jdk.CollectionConverters._
import scala.util.{Random, Using}

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.{Footers, LocalFiles, SplicedFiles}
import io.deltaupkeep.parquet.bytes.LittleEndian
import io.deltaupkeep.parquet.footer.InputRows
import io.deltaupkeep.parquet.plan.ChunkTier

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Abortable
import org.apache.parquet.column.ParquetProperties
import org.apache.parquet.example.data.GroupWriter
import org.apache.parquet.example.data.simple.SimpleGroupFactory
import org.apache.parquet.format.{FileMetaData, Util}
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.{
  DelegatingPositionOutputStream,
  DelegatingSeekableInputStream,
  InputFile,
  OutputFile,
  PositionOutputStream,
  SeekableInputStream
}
import org.apache.parquet.schema.MessageTypeParser
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

/** The engine with files alone: no Spark, no Delta. */
class FileSplicerSuite extends AnyFunSuite with SplicedFiles with TableDrivenPropertyChecks {

  test("rows keep their order and their values") {
    val cases = Table(
      ("settings", "page v2"),
      (settings, false),
      (settings, true),
      (settings.copy(layout = settings.layout.copy(dictionaryBytes = 0)), false),
      (settings.copy(threads = 1, fetches = 1), true),
      (settings.copy(heldFileBytes = 0), false),
      (settings.copy(bytesInFlight = 1 << 14, heldFileBytes = 1 << 13), false),
      (settings.copy(codec = CompressionCodecName.ZSTD), true),
      (settings.copy(codec = CompressionCodecName.GZIP), false),
      (settings.copy(codec = CompressionCodecName.LZ4), true),
      (settings.copy(codec = CompressionCodecName.UNCOMPRESSED), false)
    )
    forAll(cases) { (settings, v2) =>
      withDirectory { directory =>
        val ranges = Seq(0 until 1, 1 until 350, 350 until 350, 350 until 3000)
        val inputs = ranges.zipWithIndex.map { case (range, i) =>
          write(directory.resolve(s"in$i"), range, v2 = v2)
        }
        val outcome = done(splice(inputs, directory.resolve("out"), settings))
        assert(outcome.rows == 3000 && outcome.rowGroupsBefore == 3)
        assert(rowsOf(directory.resolve("out")) == (0 until 3000).map(row(schema, _).toString))
      }
    }
  }

  test("the preview says what the run does") {
    withDirectory { directory =>
      val inputs =
        (0 until 4).map(i => write(directory.resolve(s"in$i"), i * 100 until i * 100 + 100, v2 = i == 3))
      val request = SpliceRequest(inputs.map(InputRows(_)), schema, Map.empty, _ => None)
      val planned = done(new FileSplicer(request, settings, new Configuration(false)).preview())
      val outcome = done(splice(inputs, directory.resolve("out")))
      assert(planned == outcome.copy(tallies = Map.empty, totals = None))
      assert(planned.tier == ChunkTier.Transcode && planned.reason.contains("is encoded as DELTA_"))
    }
  }

  test("large row groups are copied, and small ones merged past them") {
    withDirectory { directory =>
      val inputs = Seq(
        write(directory.resolve("small1"), 0 until 50),
        write(directory.resolve("large"), 50 until 20000, rowGroup = 1 << 30),
        write(directory.resolve("small2"), 20000 until 20050)
      )
      val outcome = done(splice(inputs, directory.resolve("out")))
      assert((outcome.rowGroupsBefore, outcome.rowGroupsAfter) == (3, 2))
      assert(outcome.tallies.keySet == Set(ChunkTier.Copy, ChunkTier.Splice))
      val order = (50 until 20000) ++ (0 until 50) ++ (20000 until 20050)
      assert(rowsOf(directory.resolve("out")) == order.map(row(schema, _).toString))
      val reader = ParquetFileReader.open(LocalFiles.input(directory.resolve("out")))
      try
        reader.getFooter.getBlocks.asScala.flatMap(_.getColumns.asScala).foreach { chunk =>
          assert(chunk.getOffsetIndexReference != null && chunk.getColumnIndexReference != null)
          assert(
            reader.readOffsetIndex(chunk).getPageCount == reader.readColumnIndex(chunk).getMinValues.size
          )
        }
      finally reader.close()
    }
  }

  test("files without rows are no row groups that are large enough to be copied") {
    withDirectory { directory =>
      val empty = (1 to 2).map(i => write(directory.resolve(s"in$i"), 0 until 0))
      val outcome = done(splice(empty, directory.resolve("out")))
      assert((outcome.rows, outcome.rowGroupsAfter, outcome.reason) == ((
        0L,
        0,
        "there are no rows to write"
      )))
    }
  }

  /** A file that counts how its stream ends. */
  private final class Watched(file: Path, isAbortable: Boolean) extends OutputFile {
    var aborted, closed = 0
    private val output = LocalFiles.output(file)

    private class Stream(stream: PositionOutputStream) extends DelegatingPositionOutputStream(stream) {
      override def getPos: Long = stream.getPos
      override def close(): Unit = {
        closed += 1
        super.close()
      }
    }

    override def create(hint: Long): PositionOutputStream =
      if (!isAbortable) new Stream(output.create(hint))
      else new Stream(output.create(hint)) with Abortable {
        override def abort(): Abortable.AbortableResult = {
          aborted += 1
          null
        }
      }
    override def createOrOverwrite(hint: Long): PositionOutputStream = create(hint)
    override def supportsBlockSize: Boolean = false
    override def defaultBlockSize: Long = 1 << 20
  }

  test("an output that fails is aborted, or closed where that is not possible") {
    withDirectory { directory =>
      val good = (1 to 4).map(i => write(directory.resolve(s"good$i"), 0 until 10))
      val separate = settings.copy(rowGroupBytes = 1, copyFromBytes = 1 << 20)
      for (isAbortable <- Seq(true, false); fails <- Seq(true, false)) {
        val inputs = if (fails) good :+ gone(good.head) else good
        val request = SpliceRequest(inputs.map(InputRows(_)), schema, Map.empty, _ => None)
        val output = new Watched(directory.resolve("out"), isAbortable)
        val splicer = new FileSplicer(request, separate, new Configuration(false))
        if (fails) intercept[UnreadableInput](splicer.run(output)) else done(splicer.run(output))
        val ends = if (fails && isAbortable) (1, 0) else (0, 1)
        assert((output.aborted, output.closed) == ends)
        Files.delete(directory.resolve("out"))
      }
    }
  }

  test("a file of row groups that is not finished is given up") {
    withDirectory { directory =>
      for (isAbortable <- Seq(true, false); finishes <- Seq(true, false)) {
        val output = new Watched(directory.resolve("out"), isAbortable)
        Using.resource(new RowGroupFile(schema, Map.empty, output))(file => if (finishes) file.finish())
        assert((output.aborted, output.closed) == (if (!finishes && isAbortable) (1, 0) else (0, 1)))
        Files.delete(directory.resolve("out"))
      }
    }
  }

  test("values that their decoder fails on refuse the file, whatever the failure") {
    val columns = MessageTypeParser.parseMessageType(
      "message m { required binary a (STRING); required int64 b; required binary c (STRING); }"
    )
    withDirectory { directory =>
      val writer = ExampleParquetWriter
        .builder(LocalFiles.output(directory.resolve("in")))
        .withType(columns)
        .withDictionaryEncoding(false)
        .withPageWriteChecksumEnabled(false)
        .withWriterVersion(ParquetProperties.WriterVersion.PARQUET_2_0)
        .build()
      val rows = 0 until 300
      try rows.foreach { i =>
          val row = new SimpleGroupFactory(columns).newGroup()
          writer.write(row.append("a", s"value $i").append("b", i.toLong * i).append(
            "c",
            s"${i * 7} of them"
          ))
        }
      finally writer.close()
      val bytes = Files.readAllBytes(directory.resolve("in"))
      val chunks = Footers.read(directory.resolve("in")).getRow_groups.get(0).getColumns.asScala
      val end =
        chunks.map(c => c.getMeta_data.getData_page_offset + c.getMeta_data.getTotal_compressed_size).max
      val random = new Random(1)
      var refused = 0
      for (i <- 1 to 400) {
        val damaged = bytes.clone()
        (0 to i % 3).foreach(_ => damaged(4 + random.nextInt(end.toInt - 4)) = random.nextInt().toByte)
        Files.write(directory.resolve("damaged"), damaged)
        splice(Seq(named(directory.resolve("damaged"))), directory.resolve("out"), table = columns) match {
          case SpliceOutcome.Refused(inputs) =>
            assert(inputs(0).isMalformed, inputs)
            refused += 1
          case _: SpliceOutcome.Done =>
        }
        Files.deleteIfExists(directory.resolve("out"))
      }
      assert(refused > 50)
    }
  }

  test("columns that a file lacks are null, also within structs") {
    withDirectory { directory =>
      val fewer = MessageTypeParser.parseMessageType(
        "message m { optional group s { optional int32 x; } optional binary text (STRING); optional int64 n; }"
      )
      val inputs = Seq(
        write(directory.resolve("fewer"), 0 until 500, columns = fewer),
        write(directory.resolve("all"), 500 until 1000)
      )
      splice(inputs, directory.resolve("out"))
      val (old, whole) = rowsOf(directory.resolve("out")).splitAt(500)
      assert(whole == (500 until 1000).map(row(schema, _).toString))
      val withStruct = old.count(_.contains("s\n"))
      assert(withStruct == (0 until 500).count(_ % 4 != 0) && !old.exists(_.contains("y:")))
    }
  }

  test("columns go by their names, wherever they stand in a file") {
    withDirectory { directory =>
      val table = MessageTypeParser.parseMessageType("message m { optional int64 a; optional int64 b; }")
      val other = MessageTypeParser.parseMessageType(
        "message m { optional int64 b; optional int64 c; optional int64 a; }"
      )
      val inputs = Seq(table, other).zipWithIndex.map { case (columns, i) =>
        val file = directory.resolve(s"in$i")
        val writer = ExampleParquetWriter.builder(LocalFiles.output(file)).withType(columns).build()
        val group = new SimpleGroupFactory(columns).newGroup()
        columns.getFields.forEach(field => group.append(field.getName, field.getName.head.toLong))
        try writer.write(group)
        finally writer.close()
        LocalFiles.input(file)
      }
      done(splice(inputs, directory.resolve("out"), table = table))
      assert(rowsOf(directory.resolve("out")).toSet == Set("a: 97\nb: 98\n"))
    }
  }

  test("what cannot be spliced is refused with the reason, and nothing is left behind") {
    def pairs(key: String) =
      s"optional group map (MAP) { repeated group key_value { $key optional int32 value; } }"
    val cases = Table(
      ("column n in a file", "reason"),
      ("optional float n;", "column n is FLOAT in a file, and INT64 in others or in the table"),
      ("optional int64 N;", "column n has a different spelling in a file"),
      ("optional group n { optional int64 x; }", "column n has a different structure in a file"),
      ("repeated int64 n;", "column n has a different structure in a file"),
      (pairs("optional int32 key;"), "column map.key_value.key is in a map whose keys may be null in a file")
    )
    val table = MessageTypeParser.parseMessageType(
      s"message m { optional int64 n; optional int32 x; ${pairs("required int32 key;")} }"
    )
    forAll(cases) { (field, reason) =>
      withDirectory { directory =>
        val columns = MessageTypeParser.parseMessageType(s"message m { $field optional int32 x; }")
        val file = directory.resolve("in")
        ExampleParquetWriter.builder(LocalFiles.output(file)).withType(columns).build().close()
        val outcome = splice(Seq(LocalFiles.input(file)), directory.resolve("out"), table = table)
        assert(outcome == SpliceOutcome.Refused(Map(0 -> Refusal(reason))))
        assert(!Files.exists(directory.resolve("out")))
      }
    }
  }

  /** The file with another footer. */
  private def withFooter(file: Path)(change: FileMetaData => Unit): InputFile = {
    val bytes = Files.readAllBytes(file)
    val length = LittleEndian.getInt(bytes, bytes.length - 8)
    val footer =
      Util.readFileMetaData(new ByteArrayInputStream(bytes, bytes.length - 8 - length, length))
    change(footer)
    val out = new ByteArrayOutputStream()
    out.write(bytes, 0, bytes.length - 8 - length)
    Util.writeFileMetaData(footer, out)
    val end = new Array[Byte](8)
    LittleEndian.putInt(end, 0, out.size - (bytes.length - 8 - length))
    "PAR1".getBytes.copyToArray(end, 4)
    out.write(end)
    Files.write(file, out.toByteArray)
    named(file)
  }

  test("every input is closed, whatever becomes of the splice") {
    withDirectory { directory =>
      val open = new AtomicInteger
      val opened = new AtomicInteger
      def counted(file: InputFile) = new InputFile {
        override def getLength: Long = file.getLength
        override def toString: String = file.toString
        override def newStream(): SeekableInputStream = {
          val stream = file.newStream()
          open.incrementAndGet()
          opened.incrementAndGet()
          new DelegatingSeekableInputStream(stream) {
            private val closed = new AtomicBoolean
            override def getPos: Long = stream.getPos
            override def seek(to: Long): Unit = stream.seek(to)
            override def close(): Unit = if (closed.compareAndSet(false, true)) {
              open.decrementAndGet()
              stream.close()
            }
          }
        }
      }
      val good = (1 to 40).map(i => write(directory.resolve(s"good$i"), 0 until 10))
      val ranged =
        settings.copy(heldFileBytes = 0, rowGroupBytes = 4 * good.head.getLength, copyFromBytes = 1 << 20)
      Seq(good, continued(directory.resolve("bad")) +: good).foreach { inputs =>
        val request =
          SpliceRequest(inputs.map(file => InputRows(counted(file))), schema, Map.empty, _ => None)
        new FileSplicer(request, ranged, new Configuration(false)).run(
          LocalFiles.output(directory.resolve("out"))
        ) match {
          case SpliceOutcome.Refused(refused) => assert(refused.keySet == Set(0) && inputs.size == 41)
          case _: SpliceOutcome.Done => assert(inputs.size == 40)
        }
        Files.deleteIfExists(directory.resolve("out"))
        assert(open.get == 0 && opened.get > 1)
      }
    }
  }

  test("a malformed file is refused with the reason, in a preview too where its footer says so") {
    def footer(change: FileMetaData => Unit)(file: Path): InputFile = {
      write(file, 0 until 6)
      withFooter(file)(change)
    }
    val cases = Table[String, Path => InputFile, Boolean, String](
      ("what", "file", "told by the footer", "reason"),
      ("no rows over six", footer(_.setNum_rows(0)), true, "6 rows in row groups of a file of 0"),
      (
        "columns in another order",
        footer(_.getRow_groups.forEach(group => java.util.Collections.reverse(group.getColumns))),
        true,
        "a row group has other columns than the schema"
      ),
      (
        "more rows than values",
        footer { meta =>
          meta.getRow_groups.forEach(group => group.setNum_rows(60))
          meta.setNum_rows(60)
          ()
        },
        true,
        "60 rows with 6 values"
      ),
      ("a first row that goes on", continued, false, "its first value goes on with a row that is not there"),
      (
        "pages that are not there",
        file => {
          write(file, 0 until 100)
          val bytes = Files.readAllBytes(file)
          java.util.Arrays.fill(bytes, 4, 200, 0xff.toByte)
          Files.write(file, bytes)
          named(file)
        },
        false,
        "its metadata"
      )
    )
    forAll(cases) { (_, make, inFooter, reason) =>
      withDirectory { directory =>
        val inputs = Seq(write(directory.resolve("good"), 0 until 100), make(directory.resolve("odd")))
        val request = SpliceRequest(inputs.map(InputRows(_)), schema, Map.empty, _ => None)
        val preview = new FileSplicer(request, settings, new Configuration(false)).preview()
        def assertRefused(refused: Map[Int, Refusal]) = {
          assert(refused.keySet == Set(1) && refused(1).isMalformed)
          val why = refused(1).reason
          assert(why.contains(s"${directory.resolve("odd")} is malformed: ") && why.contains(reason), why)
        }
        splice(inputs, directory.resolve("out")) match {
          case done: SpliceOutcome.Done if inFooter =>
            assertRefused(done.refused)
            assert(rowsOf(directory.resolve("out")) == (0 until 100).map(row(schema, _).toString))
          case SpliceOutcome.Refused(inputs) if !inFooter => assertRefused(inputs)
          case other => fail(other.toString)
        }
        val planned = done(preview)
        if (inFooter) assertRefused(planned.refused) else assert(planned.refused.isEmpty)
      }
    }
  }

  /** Six rows, the first of which goes on with a list that no row begins. */
  private def continued(file: Path): InputFile = {
    val rows = new RowShredder(schema)
    val writer = new GroupWriter(rows, schema)
    rows.columns.last.addNull(repetitionLevel = 1, definitionLevel = 2)
    (0 until 6).foreach(i => writer.write(row(schema, i)))
    val layout = settings.layout
    Using.Manager { use =>
      val encoder = use(new RowGroupEncoder(schema, layout, settings.codec, Nil, new Configuration(false)))
      val out = new RowGroupFile(schema, Map.empty, LocalFiles.output(file))
      out.append(encoder.encode(rows))
      out.finish()
    }.get
    named(file)
  }

  private def gone(file: InputFile) = new InputFile {
    override def getLength: Long = file.getLength
    override def newStream(): SeekableInputStream = throw new FileNotFoundException("it is gone")
    override def toString: String = file.toString
  }

  test("a file that cannot be read is an error that names it") {
    withDirectory { directory =>
      val good = write(directory.resolve("good"), 0 until 100)
      val bad = write(directory.resolve("bad"), 0 until 100)
      val failure = intercept[UnreadableInput](splice(Seq(good, gone(bad)), directory.resolve("out")))
      assert(failure.getMessage.contains("bad: it is gone"), failure)
    }
  }
}
