package io.deltaupkeep.parquet.chunk

import java.nio.file.{Files, Path}
import java.util.zip.CRC32

import scala.jdk.CollectionConverters._

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.{LocalFiles, SmallSpliceSettings}
import io.deltaupkeep.parquet.file.{FileSplicer, SpliceOutcome, SpliceRequest}
import io.deltaupkeep.parquet.footer.InputRows
import io.deltaupkeep.parquet.page.PageHead
import io.deltaupkeep.parquet.plan.SpliceSettings

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.example.data.simple.SimpleGroupFactory
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.InputFile
import org.apache.parquet.schema.MessageTypeParser
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class PageChecksumSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val schema =
    MessageTypeParser.parseMessageType("message m { required int64 n; required binary s (STRING); }")

  private val settings = SmallSpliceSettings()
  private val keeping = settings.copy(
    codec = CompressionCodecName.UNCOMPRESSED,
    layout = settings.layout.copy(dictionaryBytes = 0)
  )

  private def withDirectory(body: Path => Unit): Unit = {
    val directory = Files.createTempDirectory("checksums")
    try body(directory)
    finally Files.walk(directory).iterator.asScala.toSeq.reverse.foreach(Files.delete)
  }

  private def write(file: Path, dictionary: Boolean, v2: Boolean, checksums: Boolean): InputFile = {
    val writer = ExampleParquetWriter
      .builder(LocalFiles.output(file))
      .withType(schema)
      .withDictionaryEncoding(dictionary)
      .withPageRowCountLimit(100)
      .withPageWriteChecksumEnabled(checksums)
      .withWriterVersion(if (v2) WriterVersion.PARQUET_2_0 else WriterVersion.PARQUET_1_0)
      .build()
    try (0 until 1000).foreach { i =>
        writer.write(new SimpleGroupFactory(schema).newGroup().append("n", i % 50L).append(
          "s",
          s"text ${i % 50}"
        ))
      }
    finally writer.close()
    LocalFiles.input(file)
  }

  /** Changes the last byte of the last page of texts. */
  private def flip(file: Path): Unit = {
    val bytes = Files.readAllBytes(file)
    val reader = ParquetFileReader.open(LocalFiles.input(file))
    val texts =
      try reader.getFooter.getBlocks.get(0).getColumns.get(1)
      finally reader.close()
    val last = (texts.getStartingPos + texts.getTotalSize).toInt - 1
    bytes(last) = (bytes(last) ^ 1).toByte
    Files.write(file, bytes)
    ()
  }

  private def splice(inputs: Seq[InputFile], to: Path, settings: SpliceSettings): SpliceOutcome =
    new FileSplicer(
      SpliceRequest(inputs.map(InputRows(_)), schema, Map.empty, _ => None),
      settings,
      new Configuration(false)
    )
      .run(LocalFiles.output(to))

  private val kinds = Table(
    ("settings", "dictionary", "page v2"),
    (settings, true, false),
    (settings, true, true),
    (settings, false, false),
    (settings, false, true),
    (keeping, false, false)
  )

  test("a page that is not what its checksum says is an error that names the file and the column") {
    forAll(kinds) { (settings, dictionary, v2) =>
      withDirectory { directory =>
        val bad = directory.resolve("bad")
        val inputs = Seq(
          write(directory.resolve("good"), dictionary, v2, checksums = true),
          write(bad, dictionary, v2, checksums = true)
        )
        splice(inputs, directory.resolve("before"), settings)
        flip(bad)
        val failure = intercept[UnreadableInput](splice(inputs, directory.resolve("out"), settings))
        assert(failure.file == bad.toString)
        assert(failure.getCause.asInstanceOf[DamagedPage].column == "s")
      }
    }
  }

  test("a page without a checksum is taken") {
    withDirectory { directory =>
      val file = directory.resolve("in")
      val input = write(file, dictionary = false, v2 = false, checksums = false)
      flip(file)
      assert(splice(Seq(input), directory.resolve("out"), settings).isInstanceOf[SpliceOutcome.Done])
    }
  }

  test("what is copied keeps its damage where a reader finds it") {
    withDirectory { directory =>
      val file = directory.resolve("in")
      val input = write(file, dictionary = false, v2 = false, checksums = true)
      flip(file)
      assert(splice(Seq(input), directory.resolve("out"), settings.copy(copyFromBytes = 1))
        .isInstanceOf[SpliceOutcome.Done])
      assert(checksums(directory.resolve("out")).count(matches => !matches) == 1)
    }
  }

  test("every page of an output has its checksum") {
    forAll(kinds) { (settings, dictionary, v2) =>
      withDirectory { directory =>
        val inputs =
          Seq("a", "b").map(name => write(directory.resolve(name), dictionary, v2, checksums = false))
        splice(inputs, directory.resolve("out"), settings)
        val found = checksums(directory.resolve("out"))
        assert(found.size >= 20 && found.forall(identity))
      }
    }
  }

  /** Whether the checksum of each page is there and right, dictionaries included. */
  private def checksums(file: Path): Seq[Boolean] = {
    val bytes = Files.readAllBytes(file)
    val reader = ParquetFileReader.open(LocalFiles.input(file))
    try
      reader.getFooter.getBlocks.asScala.flatMap(_.getColumns.asScala).flatMap { chunk =>
        val end = (chunk.getStartingPos + chunk.getTotalSize).toInt
        val head = new PageHead
        Iterator.unfold(chunk.getStartingPos.toInt) { at =>
          Option.when(at < end) {
            val start = head.read(bytes, at, end)
            val crc = new CRC32
            crc.update(bytes, start, head.compressedSize)
            (head.checksum == crc.getValue, start + head.compressedSize)
          }
        }
      }.toSeq
    finally reader.close()
  }
}
