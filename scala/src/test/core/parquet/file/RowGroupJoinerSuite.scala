package io.deltaupkeep.parquet.file

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.{Random, Using}

import io.deltaupkeep.parquet.LocalFiles
import io.deltaupkeep.parquet.bytes.FileBytes
import io.deltaupkeep.parquet.chunk.ChunkValues

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.example.data.simple.SimpleGroupFactory
import org.apache.parquet.hadoop.{ParquetFileReader, ParquetReader}
import org.apache.parquet.hadoop.api.ReadSupport
import org.apache.parquet.hadoop.example.{ExampleParquetWriter, GroupReadSupport}
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.InputFile
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{MessageType, MessageTypeParser}
import org.scalatest.funsuite.AnyFunSuite

class RowGroupJoinerSuite extends AnyFunSuite {

  private val schema = MessageTypeParser.parseMessageType(
    "message m { optional group add { optional binary path (STRING); optional int64 size; } }"
  )

  private def withDirectory(body: Path => Unit): Unit = {
    val directory = Files.createTempDirectory("join")
    try body(directory)
    finally Files.walk(directory).iterator.asScala.toSeq.reverse.foreach(Files.delete)
  }

  /** Row groups of a hundred rows; every seventh has no `add`. */
  private def write(
      file: Path,
      rows: Range,
      dictionary: Boolean = false,
      columns: MessageType = schema
  ): InputFile = {
    val writer = ExampleParquetWriter
      .builder(LocalFiles.output(file))
      .withType(columns)
      .withRowGroupRowCountLimit(100)
      .withDictionaryEncoding(dictionary)
      .withBloomFilterEnabled("add.path", true)
      .withCompressionCodec(CompressionCodecName.SNAPPY)
      .build()
    try rows.foreach { i =>
        val row = new SimpleGroupFactory(columns).newGroup()
        if (i % 7 != 0) row.addGroup("add").append("path", s"file-$i").append("size", i.toLong)
        writer.write(row)
      }
    finally writer.close()
    LocalFiles.input(file)
  }

  private def rows(file: Path): Seq[String] = {
    val reader =
      new ParquetReader.Builder[org.apache.parquet.example.data.Group](LocalFiles.input(file)) {
        override def getReadSupport: ReadSupport[org.apache.parquet.example.data.Group] = new GroupReadSupport
      }.build()
    Using.resource(reader)(open =>
      Iterator.continually(open.read()).takeWhile(_ != null).map(_.toString).toList
    )
  }

  test("chosen row groups come in the order that is asked for, with indexes and Bloom filters") {
    withDirectory { directory =>
      val a = write(directory.resolve("a"), 0 until 250)
      val b = write(directory.resolve("b"), 1000 until 1300)
      val joined = directory.resolve("joined")
      val output = LocalFiles.output(joined)
      val c = write(directory.resolve("c"), 2000 until 2010)
      val inputs = Seq(
        RowGroupsOf(b, Some(Seq(1))),
        RowGroupsOf(a, Some(Nil)),
        RowGroupsOf(a, Some(Seq(0, 2))),
        RowGroupsOf(c, None)
      )
      RowGroupJoiner.join(inputs, output)
      val all = rows(directory.resolve("a"))
      val kept = Seq(rows(directory.resolve("b")).slice(100, 200), all.take(100), all.drop(200))
      assert(rows(joined) == kept.flatten ++ rows(directory.resolve("c")))

      Using.resource(ParquetFileReader.open(LocalFiles.input(joined))) { reader =>
        assert(reader.getFileMetaData.getKeyValueMetaData.get("writer.model.name") == "example")
        val chunks = reader.getRowGroups.asScala.map(_.getColumns.get(0))
        assert(chunks.forall(chunk => reader.readColumnIndex(chunk) != null))
        assert(chunks.forall(chunk => reader.readOffsetIndex(chunk) != null))
        val holders = chunks.map { chunk =>
          val filter = reader.readBloomFilter(chunk)
          filter.findHash(filter.hash(Binary.fromString("file-1101")))
        }
        assert(holders == Seq(true, false, false, false))
      }
    }
  }

  test("files of different schemas are refused") {
    withDirectory { directory =>
      val other = MessageTypeParser.parseMessageType(
        "message m { optional group add { optional binary path (STRING); optional int64 size; optional int32 x; } }"
      )
      val a = write(directory.resolve("a"), 0 until 10)
      val b = write(directory.resolve("b"), 0 until 10, columns = other)
      val output = LocalFiles.output(directory.resolve("joined"))
      val e = intercept[IllegalArgumentException] {
        RowGroupJoiner.join(Seq(RowGroupsOf(a, None), RowGroupsOf(b, None)), output)
      }
      assert(e.getMessage.contains("another schema"))
    }
  }

  for (dictionary <- Seq(true, false))
    test(s"values of a chunk are looked through, with a dictionary: $dictionary") {
      withDirectory { directory =>
        val file = write(directory.resolve("a"), 0 until 250, dictionary)
        Using.resource(ParquetFileReader.open(file)) { reader =>
          val column = schema.getColumnDescription(Array("add", "path"))
          def found(rowGroup: Int, value: String) = {
            val chunk = reader.getRowGroups.get(rowGroup).getColumns.get(0)
            new ChunkValues(file, column, chunk, new Configuration(false)).existsString(_ == value)
          }
          assert(found(0, "file-1") && found(0, "file-99") && found(2, "file-249"))
          val sizes = reader.getRowGroups.get(1).getColumns.get(1)
          val size = schema.getColumnDescription(Array("add", "size"))
          val sum = new ChunkValues(file, size, sizes, new Configuration(false)).sumLongs()
          assert(sum == (100 until 200).filter(_ % 7 != 0).sum)
          assert(!found(0, "file-100") && !found(1, "file-99") && !found(0, "file-7") && !found(0, ""))
        }
      }
    }

  test("blocks give the bytes of the file, wherever they are cut") {
    withDirectory { directory =>
      val random = new Random(1)
      val bytes = random.nextBytes(1000)
      val path = Files.write(directory.resolve("bytes"), bytes)
      Using.resource(new FileBytes.Blocks(LocalFiles.input(path), blockBytes = 64, blocks = 2)) { blocks =>
        (1 to 1000).foreach { _ =>
          val start = random.nextInt(bytes.length)
          val count = random.nextInt(math.min(200, bytes.length - start) + 1)
          val slice = blocks.read(start.toLong, count)
          assert(slice.array.slice(slice.from, slice.from + count).sameElements(bytes.slice(
            start,
            start + count
          )))
        }
        intercept[java.io.EOFException](blocks.read(990, 11))
      }
    }
  }
}
