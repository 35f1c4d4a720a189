package io.deltaupkeep.parquet.plan

import java.nio.ByteBuffer

import io.deltaupkeep.parquet.SmallSpliceSettings
import io.deltaupkeep.parquet.bytes.{FileBytes, Slice}
import io.deltaupkeep.parquet.footer.{
  ChunkMeta,
  Footer,
  FooterBytes,
  InputRows,
  OpenFile,
  RowGroupMeta,
  WrittenBy
}

import org.apache.parquet.column.Encoding
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.{InputFile, SeekableInputStream}
import org.apache.parquet.schema.MessageTypeParser
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class SplicePlannerSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val table =
    MessageTypeParser.parseMessageType("message m { optional group s { optional int64 n; } }")
  private val settings = SmallSpliceSettings().copy(
    rowGroupBytes = 128L << 20,
    copyFromBytes = 32L << 20,
    bytesInFlight = 128L << 20,
    gatherBytes = 32L << 20
  )

  /** A file of one row group with one column, as its footer tells it. */
  private def file(field: String, bytes: Long, uncompressed: Long, hasPageIndex: Boolean): OpenFile = {
    val schema = MessageTypeParser.parseMessageType(s"message m { optional group s { $field } }")
    val column = schema.getColumns.get(0)
    val chunk = ChunkMeta(
      column.getPath.toSeq,
      CompressionCodecName.SNAPPY,
      Set(Encoding.PLAIN),
      values = 1000,
      start = 4,
      bytes,
      uncompressed,
      hasPageIndex,
      bloomFilterOffset = -1,
      nulls = -1
    )
    val groups = Vector(RowGroupMeta(1000, uncompressed, Vector(chunk)))
    new OpenFile(
      InputRows(Unread),
      new FileBytes.Held(Array.empty, 0),
      schema,
      new WrittenBy(""),
      None,
      Footer(ByteBuffer.allocate(0), groups, Map.empty, createdBy = "", isEncrypted = false),
      new FooterBytes(Slice(Array.emptyByteArray, 0), 0)
    )
  }

  test("a row group that cannot be held, and a chunk that no array holds, are refused") {
    val (mb, gb) = (1L << 20, 1L << 30)
    val (same, required, other) = ("optional int64 n;", "required int64 n;", "optional int64 other;")
    val tooLong = "column s.n takes 3.0 GiB of a row group, more than 2 GiB"
    def tooLarge(why: String) =
      s"a row group of 900.0 MiB can be neither copied nor held in memory, because column s.n $why"
    val cases = Table[String, Long, Long, Boolean, Option[String]](
      ("column in the file", "bytes", "uncompressed", "page index", "reason"),
      (same, 900 * mb, gb, false, None),
      (same, 3 * gb, 4 * gb, true, Some(tooLong)),
      (required, 100 * mb, 200 * mb, true, None),
      (required, 900 * mb, gb, true, Some(tooLarge("is required in the file"))),
      (required, 3 * gb, 4 * gb, true, Some(tooLong)),
      (same, 900 * mb, mb, true, None),
      (same, 900 * mb, mb, false, Some(tooLarge("has no page index"))),
      (other, 900 * mb, gb, true, Some(tooLarge("is not in the file"))),
      (other, 3 * gb, 4 * gb, true, Some(tooLong))
    )
    forAll(cases) { (field, bytes, uncompressed, hasPageIndex, reason) =>
      val planner = new SplicePlanner(table, settings, _ => None)
      val planned = planner.add(file(field, bytes, uncompressed, hasPageIndex))
      assert(planned.left.toOption == reason)
    }
  }
}

/** A file of which a planner asks for nothing but its name. */
private object Unread extends InputFile {
  override def getLength: Long = 0
  override def newStream(): SeekableInputStream = throw new IllegalStateException("It is not to be read")
  override def toString: String = "file"
}
