package io.deltaupkeep.parquet.merge

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import io.deltaupkeep.parquet.{Footers, LocalFiles, SmallSpliceSettings}
import io.deltaupkeep.parquet.file.{FileSplicer, SpliceOutcome, SpliceRequest}
import io.deltaupkeep.parquet.footer.InputRows
import io.deltaupkeep.parquet.plan.ChunkTier

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.example.data.simple.SimpleGroupFactory
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.MessageTypeParser
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

/** Which bounds of another writer stand in a file of ours. */
class CopiedBoundsSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val schema = MessageTypeParser.parseMessageType(
    """message m {
      |  required int32 i; required binary s (STRING); required int64 d (DECIMAL(18,2));
      |  required fixed_len_byte_array(9) b (DECIMAL(20,2));
      |  required float f; required double g; required fixed_len_byte_array(2) h (FLOAT16);
      |}""".stripMargin
  )
  private val exact = Set("i", "s", "d")
  private val floats = Set("f", "g", "h")

  private def write(file: Path, createdBy: Option[String]): Unit = {
    val writer = ExampleParquetWriter.builder(LocalFiles.output(file)).withType(schema)
      .withDictionaryEncoding(false).build()
    try (1 to 100).foreach { n =>
        writer.write(
          new SimpleGroupFactory(schema).newGroup()
            .append("i", n).append("s", s"$n").append("d", n.toLong)
            .append("b", Binary.fromConstantByteArray(Array.fill(9)(n.toByte)))
            .append("f", n.toFloat).append("g", n.toDouble)
            .append("h", Binary.fromConstantByteArray(Array(0, n.toByte)))
        )
      }
    finally writer.close()
    Footers.change(file) { footer =>
      footer.unsetCreated_by()
      createdBy.foreach(footer.setCreated_by)
    }
  }

  /** Columns with bounds, by footer and by page index, after their chunks were copied. */
  private def bounded(createdBy: Option[String]): (Set[String], Set[String]) = {
    val directory = Files.createTempDirectory("bounds")
    try {
      write(directory.resolve("in"), createdBy)
      val request =
        SpliceRequest(Seq(InputRows(LocalFiles.input(directory.resolve("in")))), schema, Map.empty, _ => None)
      new FileSplicer(request, SmallSpliceSettings().copy(copyFromBytes = 1), new Configuration(false))
        .run(LocalFiles.output(directory.resolve("out"))) match {
        case done: SpliceOutcome.Done => assert(done.tallies.keySet == Set(ChunkTier.Copy))
        case refused: SpliceOutcome.Refused => fail(refused.reason)
      }
      val reader = ParquetFileReader.open(LocalFiles.input(directory.resolve("out")))
      try {
        val chunks = reader.getFooter.getBlocks.asScala.flatMap(_.getColumns.asScala)
        assert(chunks.forall(_.getStatistics.getNumNulls == 0))
        def names(kept: Iterable[org.apache.parquet.hadoop.metadata.ColumnChunkMetaData]) =
          kept.map(_.getPath.toDotString).toSet
        (
          names(chunks.filter(_.getStatistics.hasNonNullValue)),
          names(chunks.filter(reader.readColumnIndex(_) != null))
        )
      } finally reader.close()
    } finally Files.walk(directory).iterator.asScala.toSeq.reverse.foreach(Files.delete)
  }

  test("bounds that a writer is known to get wrong stay behind") {
    val all = exact ++ floats + "b"
    val cases = Table(
      ("created by", "columns with bounds"),
      (Some("parquet-mr version 1.17.0 (build 1234)"), all),
      (Some("parquet-mr version 1.10.0 (build 1234)"), all),
      (Some("parquet-mr version 1.9.0 (build 1234)"), exact),
      (Some("parquet-mr version 1.10.0-rc1 (build 1234)"), exact),
      (Some("parquet-mr"), exact),
      (Some("parquet-mr compatible Photon version 0.2 (build 14.3)"), exact),
      (Some("parquet-cpp version 1.5.1-SNAPSHOT"), exact),
      (Some("parquet-cpp-arrow version 3.0.0"), exact),
      (Some("parquet-cpp-arrow version 4.0.0"), exact + "b"),
      (Some("parquet-cpp-arrow version 21.0.0"), exact + "b"),
      (Some("parquet-rs version 5.1.0"), exact - "s"),
      (Some("parquet-rs version 5.2.0"), exact),
      (Some("DuckDB version v1.3.0 (build 1234)"), exact),
      (Some("Polars"), exact - "s"),
      (Some("Polars (python) version 2.1.0 (build 1234)"), exact),
      (Some("fastparquet-python version 2026.9.0 (build 111)"), Set.empty[String]),
      (Some("???"), exact - "s"),
      (Some(""), exact - "s"),
      (None, exact - "s")
    )
    forAll(cases) { (createdBy, columns) =>
      assert(bounded(createdBy) == (columns -> columns))
    }
  }

  test("bounds without a number of nulls get one, or stay behind") {
    val optional = MessageTypeParser.parseMessageType("message m { required int32 r; optional int32 n; }")
    val cases = Table(
      ("with page indexes", "nulls by the footer"),
      (true, Map("r" -> Some(0L), "n" -> Some(33L))),
      (false, Map("r" -> Some(0L), "n" -> None))
    )
    forAll(cases) { (hasIndexes, nulls) =>
      val directory = Files.createTempDirectory("nulls")
      try {
        val writer =
          ExampleParquetWriter.builder(LocalFiles.output(directory.resolve("in"))).withType(optional).build()
        try (1 to 100).foreach { n =>
            val row = new SimpleGroupFactory(optional).newGroup().append("r", n)
            writer.write(if (n % 3 == 0) row else row.append("n", n))
          }
        finally writer.close()
        Footers.change(directory.resolve("in")) { footer =>
          footer.getRow_groups.asScala.flatMap(_.getColumns.asScala).foreach { chunk =>
            chunk.getMeta_data.getStatistics.unsetNull_count()
            if (!hasIndexes) {
              chunk.unsetColumn_index_offset()
              chunk.unsetColumn_index_length()
            }
          }
        }
        val input = Seq(InputRows(LocalFiles.input(directory.resolve("in"))))
        val settings = SmallSpliceSettings().copy(copyFromBytes = 1)
        new FileSplicer(
          SpliceRequest(input, optional, Map.empty, _ => None),
          settings,
          new Configuration(false)
        )
          .run(LocalFiles.output(directory.resolve("out"))) match {
          case done: SpliceOutcome.Done => assert(done.tallies.keySet == Set(ChunkTier.Copy))
          case refused: SpliceOutcome.Refused => fail(refused.reason)
        }
        val written =
          Footers.read(directory.resolve("out")).getRow_groups.asScala.flatMap(_.getColumns.asScala)
        val statistics = written.map { chunk =>
          chunk.getMeta_data.getPath_in_schema.get(0) -> Option(chunk.getMeta_data.getStatistics)
        }.toMap
        assert(statistics.map { case (name, s) =>
          name -> s.filter(_.isSetNull_count).map(_.getNull_count)
        } == nulls)
        assert(statistics.map { case (name, s) => name -> s.exists(_.isSetMin_value) } ==
          nulls.map { case (name, count) => name -> count.nonEmpty })
      } finally Files.walk(directory).iterator.asScala.toSeq.reverse.foreach(Files.delete)
    }
  }
}
