package io.deltaupkeep.parquet

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import io.deltaupkeep.parquet.file.{FileSplicer, SpliceOutcome, SpliceRequest}
import io.deltaupkeep.parquet.footer.InputRows
import io.deltaupkeep.parquet.plan.SpliceSettings

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.example.data.Group
import org.apache.parquet.example.data.simple.SimpleGroupFactory
import org.apache.parquet.hadoop.api.ReadSupport
import org.apache.parquet.hadoop.example.{ExampleParquetWriter, GroupReadSupport}
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.InputFile
import org.apache.parquet.schema.{MessageType, MessageTypeParser}
import org.scalatest.Assertions

/** Files of parquet-java's writer, the splice of some, and their rows as parquet-java reads them. */
trait SplicedFiles extends Assertions {

  val settings = SmallSpliceSettings()

  val schema = MessageTypeParser.parseMessageType(
    """message m {
      |  optional int64 n;
      |  optional binary text (STRING);
      |  optional group s { optional int32 x; optional binary y (STRING); }
      |  optional group l (LIST) { repeated group list { optional int32 element; } }
      |}""".stripMargin
  )

  def withDirectory(body: Path => Unit): Unit = {
    val directory = Files.createTempDirectory("splice")
    try body(directory)
    finally Files.walk(directory).iterator.asScala.toSeq.reverse.foreach(Files.delete)
  }

  def write(
      file: Path,
      rows: Range,
      columns: MessageType = schema,
      rowGroup: Long = 1 << 20,
      v2: Boolean = false
  ): InputFile = {
    import org.apache.parquet.column.ParquetProperties.WriterVersion
    val writer = ExampleParquetWriter
      .builder(LocalFiles.output(file))
      .withType(columns)
      .withRowGroupSize(rowGroup)
      .withPageSize(1 << 10)
      .withWriterVersion(if (v2) WriterVersion.PARQUET_2_0 else WriterVersion.PARQUET_1_0)
      .withCompressionCodec(CompressionCodecName.ZSTD)
      .build()
    try rows.foreach(i => writer.write(row(columns, i)))
    finally writer.close()
    named(file)
  }

  def named(file: Path): InputFile = LocalFiles.input(file)

  def row(columns: MessageType, i: Int): Group = {
    val group = new SimpleGroupFactory(columns).newGroup()
    if (i % 3 != 0) group.append("n", i.toLong * i)
    if (i % 5 != 0) group.append("text", s"text ${i % 700}")
    if (i % 4 != 0) {
      val struct = group.addGroup("s")
      if (i % 7 != 0) struct.append("x", i % 10)
      if (columns.containsPath(Array("s", "y"))) struct.append("y", s"y$i")
    }
    if (columns.containsField("l") && i % 6 != 0) {
      val list = group.addGroup("l")
      (0 until i % 4).foreach { j =>
        val element = list.addGroup("list")
        if (j != 1) element.append("element", i + j)
      }
    }
    group
  }

  def rowsOf(file: Path): Seq[String] = groupsOf(file).map(_.toString)

  def groupsOf(file: Path): Seq[Group] = {
    val reader = new Reader(LocalFiles.input(file)).build()
    try Iterator.continually(reader.read()).takeWhile(_ != null).toVector
    finally reader.close()
  }

  private final class Reader(file: InputFile)
      extends org.apache.parquet.hadoop.ParquetReader.Builder[Group](file) {
    override protected def getReadSupport: ReadSupport[Group] = new GroupReadSupport()
  }

  def splice(
      inputs: Seq[InputFile],
      to: Path,
      settings: SpliceSettings = settings,
      table: MessageType = schema
  ): SpliceOutcome = spliceRows(inputs.map(InputRows(_)), to, settings, table)

  def spliceRows(
      inputs: Seq[InputRows],
      to: Path,
      settings: SpliceSettings = settings,
      table: MessageType = schema
  ): SpliceOutcome = {
    val request = SpliceRequest(inputs, table, Map("k" -> "v"), _ => None)
    new FileSplicer(request, settings, new Configuration(false)).run(LocalFiles.output(to))
  }

  def done(outcome: SpliceOutcome): SpliceOutcome.Done = outcome match {
    case done: SpliceOutcome.Done => done
    case refused: SpliceOutcome.Refused => fail(refused.reason)
  }
}
