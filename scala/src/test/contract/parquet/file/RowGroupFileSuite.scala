package io.deltaupkeep.parquet.file

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.{Random, Using}

import io.deltaupkeep.parquet.LocalFiles
import io.deltaupkeep.parquet.page.PageLayout

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.example.data.Group
import org.apache.parquet.example.data.GroupWriter
import org.apache.parquet.example.data.simple.SimpleGroupFactory
import org.apache.parquet.hadoop.{ParquetFileReader, ParquetReader}
import org.apache.parquet.hadoop.api.ReadSupport
import org.apache.parquet.hadoop.example.{ExampleParquetWriter, GroupReadSupport}
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{MessageType, MessageTypeParser}
import org.scalatest.funsuite.AnyFunSuite

class RowGroupFileSuite extends AnyFunSuite {

  private val schema = MessageTypeParser.parseMessageType(
    """message m {
      |  optional group a {
      |    required binary path (STRING);
      |    optional int64 size;
      |    optional boolean flag;
      |    optional double ratio;
      |    optional float part;
      |    optional int96 time;
      |    optional fixed_len_byte_array(5) amount;
      |    optional group map (MAP) { repeated group key_value { required binary key; optional int32 value; } }
      |    optional group list (LIST) { repeated group list {
      |      optional group element { repeated int32 number; optional group deep { optional int64 x; } }
      |    } }
      |  }
      |  optional group b { optional binary path (STRING); optional group inner { optional int32 y; } }
      |}""".stripMargin
  )

  private def withDirectory(body: Path => Unit): Unit = {
    val directory = Files.createTempDirectory("shred")
    try body(directory)
    finally Files.walk(directory).iterator.asScala.toSeq.reverse.foreach(Files.delete)
  }

  private def randomRow(random: Random, i: Int): Group = {
    val row = new SimpleGroupFactory(schema).newGroup()
    def maybe(add: => Any): Unit = if (random.nextInt(3) > 0) { add; () }
    def bytes(count: Int) = Binary.fromConstantByteArray(Array.fill(count)(random.nextInt().toByte))
    maybe {
      val a = row.addGroup("a").append("path", s"file-$i")
      maybe(a.append("size", random.nextLong()))
      maybe(a.append("flag", random.nextBoolean()))
      maybe(a.append("ratio", random.nextDouble()))
      maybe(a.append("part", random.nextFloat()))
      maybe(a.append("time", bytes(12)))
      maybe(a.append("amount", bytes(5)))
      maybe {
        val map = a.addGroup("map")
        for (key <- 0 until random.nextInt(4)) {
          val entry = map.addGroup("key_value").append("key", s"key-$key")
          maybe(entry.append("value", random.nextInt(3)))
        }
      }
      maybe {
        val list = a.addGroup("list")
        for (_ <- 0 until random.nextInt(4)) {
          val entry = list.addGroup("list")
          maybe {
            val element = entry.addGroup("element")
            for (_ <- 0 until random.nextInt(3)) element.append("number", random.nextInt(5))
            maybe(maybe(element.addGroup("deep").append("x", random.nextLong())))
          }
        }
      }
    }
    maybe {
      val b = row.addGroup("b")
      maybe(b.append("path", s"other-$i"))
      maybe(b.addGroup("inner").append("y", i))
    }
    row
  }

  private def shred(rows: Seq[Group], of: MessageType = schema): RowShredder = {
    val shredder = new RowShredder(of)
    val writer = new GroupWriter(shredder, of)
    rows.foreach(writer.write)
    shredder
  }

  private def write(rows: RowShredder, file: Path, blooms: BloomFilterSpec*): Unit = {
    val layout = PageLayout(pageRows = 100, pageBytes = 1 << 12, dictionaryBytes = 1 << 12)
    val codec = CompressionCodecName.SNAPPY
    Using.Manager { use =>
      val encoder = use(new RowGroupEncoder(schema, layout, codec, blooms, new Configuration(false)))
      val written = new RowGroupFile(schema, Map("who" -> "test"), LocalFiles.output(file))
      written.append(encoder.encode(rows))
      written.finish()
    }.get
  }

  private def read(file: Path): Seq[String] = {
    val reader = new ParquetReader.Builder[Group](LocalFiles.input(file)) {
      override def getReadSupport: ReadSupport[Group] = new GroupReadSupport
    }.build()
    Using.resource(reader)(open =>
      Iterator.continually(open.read()).takeWhile(_ != null).map(_.toString).toList
    )
  }

  for (seed <- 1 to 20)
    test(s"rows are the same as those that parquet-java writes: seed $seed") {
      withDirectory { directory =>
        val random = new Random(seed)
        val rows = Seq.tabulate(1 + random.nextInt(1000))(randomRow(random, _))
        val peer = directory.resolve("peer")
        val writer = ExampleParquetWriter
          .builder(LocalFiles.output(peer))
          .withType(schema)
          .build()
        try rows.foreach(writer.write)
        finally writer.close()
        val ours = directory.resolve("ours")
        val (some, others) = rows.splitAt(random.nextInt(rows.size + 1))
        val shredded = shred(some)
        shredded.addAll(shred(others))
        write(shredded, ours)
        assert(read(ours) == read(peer))
        def nulls(file: Path) = Using.resource(ParquetFileReader.open(LocalFiles.input(file))) { reader =>
          reader.getRowGroups.get(0).getColumns.asScala.toSeq.map { chunk =>
            (chunk.getPath, chunk.getValueCount, chunk.getStatistics.getNumNulls)
          }
        }
        assert(nulls(ours) == nulls(peer))
      }
    }

  test("columns that the rows do not have are null, and Bloom filters find what is there") {
    withDirectory { directory =>
      val onlyB = new MessageType("m", schema.getFields.get(1))
      val rows = (0 until 300).map { i =>
        val row = new SimpleGroupFactory(onlyB).newGroup()
        row.addGroup("b").append("path", s"other-$i")
        row
      }
      val file = directory.resolve("narrow")
      val blooms = Seq("a.path", "b.path").map(BloomFilterSpec(_, falsePositives = 1e-6, maxBytes = 1 << 20))
      write(shred(rows, onlyB), file, blooms: _*)
      assert(read(file) == rows.map(_.toString))
      Using.resource(ParquetFileReader.open(LocalFiles.input(file))) { reader =>
        assert(reader.getFileMetaData.getKeyValueMetaData.get("who") == "test")
        val chunks = reader.getRowGroups.get(0).getColumns.asScala
        val filters = chunks.map(chunk => chunk.getPath.toDotString -> reader.readBloomFilter(chunk)).toMap
        assert(filters("a.path") == null)
        val filter = filters("b.path")
        def holds(value: String) = filter.findHash(filter.hash(Binary.fromString(value)))
        assert((0 until 300).forall(i => holds(s"other-$i")))
        assert(!(300 until 1000).exists(i => holds(s"other-$i")))
      }
    }
  }

  test("a shredder that was cleared takes other rows") {
    withDirectory { directory =>
      val random = new Random(1)
      val shredder = shred(Seq.tabulate(50)(randomRow(random, _)))
      shredder.clear()
      assert((shredder.rows, shredder.bytes) == ((0, 0L)))
      val rows = Seq.tabulate(50)(randomRow(random, _))
      shredder.addAll(shred(rows))
      write(shredder, directory.resolve("file"))
      assert(read(directory.resolve("file")) == rows.map(_.toString))
    }
  }
}
