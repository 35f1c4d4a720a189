package io.deltaupkeep.parquet.footer

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import io.deltaupkeep.parquet.{Footers, LocalFiles, SmallSpliceSettings}
import io.deltaupkeep.parquet.file.{FileSplicer, SpliceOutcome, SpliceRequest}

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.example.data.simple.SimpleGroupFactory
import org.apache.parquet.format.Util
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{MessageType, MessageTypeParser}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

/** Files that readers treat by who wrote them are not spliced, where it makes a difference. */
class WriterDefectsSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val strings = MessageTypeParser.parseMessageType("message m { required binary s (STRING); }")
  private val instants = MessageTypeParser.parseMessageType("message m { required int96 t; }")

  private val now = "parquet-mr version 1.17.0 (build 1234)"

  private def refusal(
      createdBy: Option[String],
      schema: MessageType = strings,
      dictionary: Boolean = true,
      shifts: Boolean = false
  ): Option[String] = {
    val directory = Files.createTempDirectory("defects")
    try {
      val file = directory.resolve("in")
      write(file, schema, dictionary)
      Footers.change(file) { footer =>
        footer.unsetCreated_by()
        createdBy.foreach(footer.setCreated_by)
      }
      val request = SpliceRequest(Seq(InputRows(LocalFiles.input(file))), schema, Map.empty, _ => None)
      val settings = SmallSpliceSettings().copy(shiftsForeignInt96 = shifts)
      new FileSplicer(request, settings, new Configuration(false)).preview() match {
        case refused: SpliceOutcome.Refused => Some(refused.reason)
        case _: SpliceOutcome.Done => None
      }
    } finally Files.walk(directory).iterator.asScala.toSeq.reverse.foreach(Files.delete)
  }

  /** With a dictionary as version 1, else DELTA_BYTE_ARRAY pages of version 2. */
  private def write(file: Path, schema: MessageType, dictionary: Boolean): Unit = {
    val writer = ExampleParquetWriter
      .builder(LocalFiles.output(file))
      .withType(schema)
      .withDictionaryEncoding(dictionary)
      .withWriterVersion(if (dictionary) WriterVersion.PARQUET_1_0 else WriterVersion.PARQUET_2_0)
      .build()
    val rows = 1 to 100
    try rows.foreach { n =>
        val value = Binary.fromConstantByteArray(Array.fill(12)((n % 3).toByte))
        writer.write(new SimpleGroupFactory(schema).newGroup().append(schema.getFieldName(0), value))
      }
    finally writer.close()
  }

  test("DELTA_BYTE_ARRAY pages that need those before them (PARQUET-246)") {
    val cases = Table(
      ("created by", "is refused"),
      (Some(now), false),
      (Some("parquet-mr version 1.8.0 (build 1234)"), false),
      (Some("parquet-mr version 1.7.9 (build 1234)"), true),
      (Some("parquet-mr"), true),
      (Some("parquet-cpp-arrow version 21.0.0"), false),
      (Some(""), true),
      (None, true)
    )
    forAll(cases) { (createdBy, isRefused) =>
      val reason = refusal(createdBy, dictionary = false)
      assert(reason.exists(_.contains("PARQUET-246")) == isRefused && reason.nonEmpty == isRefused)
    }
    assert(refusal(Some("parquet-mr version 1.7.9 (build 1234)")).isEmpty)
  }

  test("sizes that leave out the dictionary (PARQUET-816)") {
    val cases = Table(
      ("created by", "is refused"),
      (Some(now), false),
      (Some("parquet-mr version 1.2.9 (build 1234)"), false),
      (Some("parquet-mr version 1.2.8 (build 1234)"), true),
      (Some("parquet-mr"), true),
      (Some("impala version 1.2.0 (build 1234)"), false),
      (Some("Polars"), false),
      (Some(""), true),
      (None, true)
    )
    forAll(cases) { (createdBy, isRefused) =>
      val reason = refusal(createdBy)
      assert(reason.exists(_.contains("PARQUET-816")) == isRefused && reason.nonEmpty == isRefused)
    }
    assert(refusal(None).contains(
      "sizes of chunks by an unknown writer may leave out their dictionaries (PARQUET-816)"
    ))
  }

  /** A file whose only page is compressed and says that it is not. */
  private def hideCompression(file: Path, createdBy: String): Unit = {
    val schema = MessageTypeParser.parseMessageType("message m { required int64 n; }")
    val writer = ExampleParquetWriter
      .builder(LocalFiles.output(file))
      .withType(schema)
      .withDictionaryEncoding(false)
      .withWriterVersion(WriterVersion.PARQUET_2_0)
      .withCompressionCodec(CompressionCodecName.SNAPPY)
      .build()
    val rows = 1 to 1000
    try rows.foreach(n =>
        writer.write(new SimpleGroupFactory(schema).newGroup().append("n", (n % 7).toLong))
      )
    finally writer.close()
    Footers.rewrite(file) { (footer, bytes) =>
      footer.setCreated_by(createdBy)
      val chunk = footer.getRow_groups.get(0).getColumns.get(0)
      val (start, size) =
        (chunk.getMeta_data.getData_page_offset.toInt, chunk.getMeta_data.getTotal_compressed_size)
      val in = new ByteArrayInputStream(bytes, start, size.toInt)
      val head = Util.readPageHeader(in)
      val body = in.readAllBytes()
      assert(head.getCompressed_page_size == body.length && body.length < head.getUncompressed_page_size)
      head.getData_page_header_v2.setIs_compressed(false)
      val page = new ByteArrayOutputStream
      Util.writePageHeader(head, page)
      page.write(body)
      chunk.getMeta_data.setTotal_compressed_size(page.size.toLong)
      chunk.unsetColumn_index_offset()
      chunk.unsetColumn_index_length()
      chunk.unsetOffset_index_offset()
      chunk.unsetOffset_index_length()
      bytes.take(start) ++ page.toByteArray
    }
  }

  test("compressed pages that say that they are not (ARROW-10353)") {
    val table = MessageTypeParser.parseMessageType("message m { required int64 n; }")
    val cases = Table(
      ("created by", "is refused"),
      ("parquet-cpp version 1.5.1-SNAPSHOT", true),
      ("parquet-cpp-arrow version 2.0.0", true),
      ("parquet-cpp-arrow version 3.0.0", false)
    )
    for (isCopied <- Seq(true, false)) forAll(cases) { (createdBy, isRefused) =>
      val directory = Files.createTempDirectory("hidden")
      try {
        hideCompression(directory.resolve("in"), createdBy)
        val settings = SmallSpliceSettings().copy(copyFromBytes = if (isCopied) 1 else 1 << 20)
        val request = SpliceRequest(
          Seq(InputRows(LocalFiles.input(directory.resolve("in")))),
          table,
          Map.empty,
          _ => None
        )
        new FileSplicer(request, settings, new Configuration(false))
          .run(LocalFiles.output(directory.resolve("out"))) match {
          case refused: SpliceOutcome.Refused =>
            // Other writers do what they say, so such a page of theirs is malformed.
            assert(refused.reason.contains("ARROW-10353") == isRefused && (isRefused || !isCopied))
          case _: SpliceOutcome.Done => assert(!isRefused && isCopied)
        }
      } finally Files.walk(directory).iterator.asScala.toSeq.reverse.foreach(Files.delete)
    }
  }

  test("INT96 that Spark shifts") {
    val arrow = Some("parquet-cpp-arrow version 21.0.0")
    assert(refusal(arrow, instants, shifts = true).exists(_.contains("int96TimestampConversion")))
    assert(refusal(arrow, instants).isEmpty)
    assert(refusal(arrow, shifts = true).isEmpty)
    assert(refusal(Some(now), instants, shifts = true).isEmpty)
  }
}
