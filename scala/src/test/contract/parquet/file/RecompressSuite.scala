package io.deltaupkeep.parquet.file

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.nio.file.{Files, Path, StandardCopyOption}

import scala.jdk.CollectionConverters._

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.{Footers, LocalFiles, SplicedFiles, StoredPage, StoredPages}
import io.deltaupkeep.parquet.chunk.DamagedPage
import io.deltaupkeep.parquet.footer.InputRows
import io.deltaupkeep.parquet.plan.{ChunkTier, SpliceSettings}

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.column.ParquetProperties.WriterVersion
import org.apache.parquet.format.{ColumnMetaData, Encoding, FileMetaData, PageType, Util}
import org.apache.parquet.hadoop.ParquetFileReader
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.hadoop.metadata.CompressionCodecName._
import org.apache.parquet.schema.MessageTypeParser
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Files whose pages are compressed with another codec, and otherwise stay as they are. */
class RecompressSuite extends AnyFunSuite with SplicedFiles with ScalaCheckPropertyChecks {

  /** The pages of `nothing` are empty in version 2. */
  private val columns = MessageTypeParser.parseMessageType(
    """message m {
      |  optional int64 n;
      |  optional binary text (STRING);
      |  optional int32 nothing;
      |  optional group s { optional int32 x; optional binary y (STRING); }
      |  optional group l (LIST) { repeated group list { optional int32 element; } }
      |}""".stripMargin
  )

  private val codecs = Seq(UNCOMPRESSED, SNAPPY, GZIP, ZSTD, LZ4_RAW)

  private def asking(codec: CompressionCodecName): SpliceSettings =
    settings.copy(codec = codec, recompresses = true)

  private def writeAs(
      file: Path,
      codec: CompressionCodecName,
      v2: Boolean = false,
      dictionary: Boolean = true,
      checksums: Boolean = false,
      rows: Int = 400,
      rowGroup: Long = 1 << 20,
      pageRows: Int = 90
  ): Unit = {
    val writer = ExampleParquetWriter
      .builder(LocalFiles.output(file))
      .withType(columns)
      .withRowGroupSize(rowGroup)
      .withPageRowCountLimit(pageRows)
      .withWriterVersion(if (v2) WriterVersion.PARQUET_2_0 else WriterVersion.PARQUET_1_0)
      .withDictionaryEncoding(dictionary)
      .withPageWriteChecksumEnabled(checksums)
      .withBloomFilterEnabled("n", true)
      .withCompressionCodec(codec)
      .build()
    val numbers = 0 until rows
    try numbers.foreach(i => writer.write(row(columns, i)))
    finally writer.close()
  }

  private def recompress(file: Path, to: CompressionCodecName, directory: Path): (Path, SpliceOutcome) = {
    val out = directory.resolve(s"new-${Files.list(directory).count()}.parquet")
    (out, splice(Seq(named(file)), out, asking(to), columns))
  }

  private def chunksOf(file: Path): Seq[Seq[ColumnMetaData]] =
    Footers.read(file).getRow_groups.asScala.toSeq.map {
      _.getColumns.asScala.toSeq.map(_.getMeta_data)
    }

  /** By row group and column, whether pages are kept: Spark may misread those of DELTA_BYTE_ARRAY. */
  private def keptIn(file: Path): Seq[Seq[Boolean]] =
    chunksOf(file).map(_.map(!_.getEncodings.contains(Encoding.DELTA_BYTE_ARRAY)))

  private def kept[T](of: Path, all: Seq[Seq[T]]): Seq[T] =
    all.flatten.zip(keptIn(of).flatten).collect { case (one, true) => one }

  private def codecsIn(file: Path): Set[CompressionCodecName] =
    chunksOf(file).flatten.map(chunk => CompressionCodecName.fromParquet(chunk.getCodec)).toSet

  /** Everything that readers find by the footer is where the footer says. */
  private def assertIndexed(file: Path, pages: Seq[Seq[Seq[StoredPage]]]): Unit = {
    val reader = ParquetFileReader.open(LocalFiles.input(file))
    try reader.getFooter.getBlocks.asScala.zip(pages).foreach { case (group, ofGroup) =>
        group.getColumns.asScala.zip(ofGroup).foreach { case (chunk, ofChunk) =>
          val data = ofChunk.filter(_.header.getType != PageType.DICTIONARY_PAGE)
          val offsets = reader.readOffsetIndex(chunk)
          assert((0 until offsets.getPageCount).map(offsets.getOffset) == data.map(_.offset))
          assert((0 until offsets.getPageCount).map(offsets.getCompressedPageSize) == data.map(_.size))
          assert(chunk.getFirstDataPageOffset == data.head.offset)
          assert(chunk.getTotalSize == ofChunk.map(_.size.toLong).sum)
          val uncompressed = ofChunk.map(p =>
            p.size.toLong - p.header.getCompressed_page_size + p.header.getUncompressed_page_size
          )
          assert(chunk.getTotalUncompressedSize == uncompressed.sum)
        }
      }
    finally reader.close()
  }

  private def assertSameIndexes(before: Path, after: Path): Unit = {
    val old = ParquetFileReader.open(LocalFiles.input(before))
    val made = ParquetFileReader.open(LocalFiles.input(after))
    def chunks(of: ParquetFileReader) =
      kept(before, of.getFooter.getBlocks.asScala.toSeq.map(_.getColumns.asScala.toSeq))
    try chunks(old).zip(chunks(made)).foreach { case (from, to) =>
        assert(String.valueOf(old.readColumnIndex(from)) == String.valueOf(made.readColumnIndex(to)))
        assert(from.getStatistics == to.getStatistics && from.getEncodings == to.getEncodings)
        assert(Option(old.readBloomFilter(from)) == Option(made.readBloomFilter(to)))
      }
    finally {
      old.close()
      made.close()
    }
  }

  /** Whether only sizes, codec and checksums have changed. */
  private def assertRecompressed(file: Path, out: Path, to: CompressionCodecName): Unit = {
    assert(codecsIn(out) == Set(to))
    val (before, after) = (StoredPages.of(file), StoredPages.of(out))
    kept(file, after).zip(kept(file, before)).foreach { case (made, old) =>
      assert(made.map(_.meaning) == old.map(_.meaning))
      assert(made.map(_.header.isSetCrc) == old.map(_.header.isSetCrc))
    }
    after.flatten.flatten.filter(_.header.isSetCrc).foreach(page => assert(page.header.getCrc == page.crc))
    assert(
      kept(file, chunksOf(out)).map(_.getEncoding_stats) == kept(file, chunksOf(file)).map(
        _.getEncoding_stats
      )
    )
    assertIndexed(out, after)
    assertSameIndexes(file, out)
    assert(rowsOf(out) == rowsOf(file))
  }

  for {
    v2 <- Seq(false, true)
    dictionary <- Seq(true, false)
    checksums <- Seq(true, false)
    from <- codecs
  } {
    val pages = s"v${if (v2) 2 else 1} pages" + (if (dictionary) ", dictionaries" else "") +
      (if (checksums) ", checksums" else "")
    test(s"$from to every other codec: $pages") {
      withDirectory { directory =>
        val file = directory.resolve("a.parquet")
        writeAs(file, from, v2, dictionary, checksums)
        assert(kept(file, chunksOf(file)).size >= 4)
        codecs.filter(_ != from).foreach { to =>
          val (out, outcome) = recompress(file, to, directory)
          assert(done(outcome).tallies.contains(ChunkTier.Recompress))
          assertRecompressed(file, out, to)
        }
      }
    }
  }

  test("the uncompressed bytes of each page are the same, whatever the pages") {
    val files = for {
      from <- Gen.oneOf(codecs)
      to <- Gen.oneOf(codecs.filter(_ != from))
      v2 <- Gen.oneOf(true, false)
      dictionary <- Gen.oneOf(true, false)
      checksums <- Gen.oneOf(true, false)
      rows <- Gen.chooseNum(1, 700)
      pageRows <- Gen.chooseNum(1, 300)
    } yield (from, to, (v2, dictionary, checksums), rows, pageRows)
    forAll(files, minSuccessful(60)) { case (from, to, (v2, dictionary, checksums), rows, pageRows) =>
      withDirectory { directory =>
        val file = directory.resolve("a.parquet")
        writeAs(file, from, v2, dictionary, checksums, rows, pageRows = pageRows)
        assertRecompressed(file, recompress(file, to, directory)._1, to)
      }
    }
  }

  test("all row groups of a large file keep their place, and the reason names both codecs") {
    withDirectory { directory =>
      val file = directory.resolve("a.parquet")
      writeAs(file, SNAPPY, rows = 30000, rowGroup = 100000)
      assert(chunksOf(file).size > 2)
      val request = SpliceRequest(Seq(InputRows(named(file))), columns, Map.empty, _ => None)
      val large = asking(ZSTD).copy(copyFromBytes = 1)
      val planned = done(new FileSplicer(request, large, new Configuration(false)).preview())
      assert(planned.tier == ChunkTier.Recompress)
      assert(planned.reason == "pages are compressed as SNAPPY, not as ZSTD")
      val out = directory.resolve("out.parquet")
      val outcome = done(splice(Seq(named(file)), out, large, columns))
      assert(outcome.tallies.keySet == Set(ChunkTier.Recompress))
      assert(chunksOf(out).size == chunksOf(file).size)
      assertRecompressed(file, out, ZSTD)
    }
  }

  test("chunks that have the codec already are copied, and so are all if no codec is asked for") {
    withDirectory { directory =>
      val file = directory.resolve("a.parquet")
      writeAs(file, SNAPPY)
      val (same, outcome) = recompress(file, SNAPPY, directory)
      assert(done(outcome).tier == ChunkTier.Copy)
      assertRecompressed(file, same, SNAPPY)
      val out = directory.resolve("out.parquet")
      assert(done(splice(Seq(named(file)), out, settings.copy(codec = ZSTD), columns)).tier == ChunkTier.Copy)
      assert(codecsIn(out) == Set(SNAPPY))
    }
  }

  test("rows that are deleted, and small row groups that are merged, get the codec too") {
    withDirectory { directory =>
      val file = directory.resolve("a.parquet")
      writeAs(file, SNAPPY)
      val out = directory.resolve("out.parquet")
      val outcome = done(splice(Seq(named(file), named(file)), out, asking(GZIP), columns))
      assert(outcome.tier == ChunkTier.Splice && codecsIn(out) == Set(GZIP))
      assert(rowsOf(out) == rowsOf(file) ++ rowsOf(file))
    }
  }

  test("a row group is recompressed if its new pages fit into memory, and refused if not") {
    withDirectory { directory =>
      def bytesOf(file: Path): Long = chunksOf(file).flatten.map(_.getTotal_compressed_size).sum
      def within(file: Path, to: CompressionCodecName, bytes: Long): SpliceOutcome = {
        val out = directory.resolve(s"$to-$bytes.parquet")
        splice(Seq(named(file)), out, asking(to).copy(bytesInFlight = bytes, heldFileBytes = 1), columns)
      }
      val (large, small) = (directory.resolve("large.parquet"), directory.resolve("small.parquet"))
      writeAs(large, UNCOMPRESSED, rows = 20000, pageRows = 4000)
      writeAs(small, ZSTD, rows = 20000, pageRows = 4000)
      assert(chunksOf(large).size == 1 && bytesOf(small) < bytesOf(large) / 2)
      assert(done(within(large, ZSTD, bytesOf(large) * 3 / 4)).tier == ChunkTier.Recompress)
      val limits = Seq(
        bytesOf(large) * 3 / 4 -> "a row group takes too much memory",
        bytesOf(small) / 3 -> "has another codec than is asked for"
      )
      limits.foreach { case (bytes, why) =>
        within(small, UNCOMPRESSED, bytes) match {
          case refused: SpliceOutcome.Refused => assert(refused.reason.contains(why))
          case other => fail(other.toString)
        }
      }
    }
  }

  test("a dictionary whose place the footer leaves out is kept") {
    withDirectory { directory =>
      val file = directory.resolve("a.parquet")
      writeAs(file, SNAPPY)
      Footers.change(file) { footer =>
        footer.getRow_groups.asScala.flatMap(_.getColumns.asScala).map(_.getMeta_data).foreach { chunk =>
          if (chunk.isSetDictionary_page_offset) chunk.setData_page_offset(chunk.getDictionary_page_offset)
          chunk.unsetDictionary_page_offset()
        }
      }
      val (out, outcome) = recompress(file, ZSTD, directory)
      assert(done(outcome).tier == ChunkTier.Recompress)
      assertRecompressed(file, out, ZSTD)
    }
  }

  test("a page that does not match its checksum is damage, not a reason to read its rows") {
    withDirectory { directory =>
      val file = directory.resolve("a.parquet")
      writeAs(file, SNAPPY, checksums = true)
      val page = StoredPages.of(file).head.head.last
      Footers.rewrite(file) { (_, bytes) =>
        val at = (page.offset + page.size - 1).toInt
        bytes.updated(at, (bytes(at) ^ 1).toByte)
      }
      val thrown = intercept[UnreadableInput](recompress(file, ZSTD, directory))
      assert(thrown.getCause.isInstanceOf[DamagedPage])
    }
  }

  test(
    "a chunk with fewer values than its footer says, or with another offset index, is refused as malformed"
  ) {
    withDirectory { directory =>
      val file = directory.resolve("a.parquet")
      writeAs(file, SNAPPY)
      def refusedAfter(change: (FileMetaData, Array[Byte]) => Array[Byte]): String = {
        val changed = directory.resolve("changed.parquet")
        Files.copy(file, changed, StandardCopyOption.REPLACE_EXISTING)
        Footers.rewrite(changed)(change)
        recompress(changed, ZSTD, directory)._2 match {
          case SpliceOutcome.Refused(inputs) =>
            assert(inputs(0).isMalformed)
            inputs(0).reason
          case other => fail(other.toString)
        }
      }
      val fewer = refusedAfter { (footer, bytes) =>
        footer.getRow_groups.get(0).getColumns.get(0).getMeta_data.setNum_values(401)
        bytes
      }
      assert(fewer.contains("the chunk ends after 400 of 401 values"))
      val otherIndex = refusedAfter { (footer, bytes) =>
        val chunk = footer.getRow_groups.get(0).getColumns.get(0)
        val index = Util.readOffsetIndex(
          new ByteArrayInputStream(bytes, chunk.getOffset_index_offset.toInt, chunk.getOffset_index_length)
        )
        index.getPage_locations.remove(0)
        val out = new ByteArrayOutputStream
        Util.writeOffsetIndex(index, out)
        chunk.setOffset_index_offset(bytes.length.toLong)
        chunk.setOffset_index_length(out.size)
        bytes ++ out.toByteArray
      }
      assert(otherIndex.contains("an offset index of 4 pages in a chunk of 5"))
    }
  }

  test("a page that says it is uncompressed is taken as such, unless its writer says so of all pages") {
    withDirectory { directory =>
      val file = directory.resolve("a.parquet")
      writeAs(file, SNAPPY, v2 = true)
      val (raw, _) = recompress(file, ZSTD, directory)
      val stored = StoredPages.of(raw).flatten.flatten.flatMap(p => Option(p.header.getData_page_header_v2))
      assert(stored.exists(!_.isIs_compressed) && stored.exists(_.isIs_compressed))
      val (again, _) = recompress(raw, GZIP, directory)
      assertRecompressed(raw, again, GZIP)
      Footers.change(raw)(_.setCreated_by("parquet-cpp version 1.5.1-SNAPSHOT"))
      recompress(raw, GZIP, directory)._2 match {
        case refused: SpliceOutcome.Refused => assert(refused.reason.contains("ARROW-10353"))
        case other => fail(other.toString)
      }
    }
  }
}
