package io.deltaupkeep.parquet.page

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}

import scala.util.Try

import io.deltaupkeep.parquet.{DrawnValues, ThriftValue}
import io.deltaupkeep.parquet.ThriftValue.{replaced, without, I32, Struct}
import io.deltaupkeep.parquet.bytes.MalformedPage

import org.apache.parquet.column
import org.apache.parquet.format._
import org.scalacheck.{Arbitrary, Gen}
import org.scalatest.funsuite.AnyFunSuite

/** Of a page's header we read what parquet-java's Thrift reads. */
class PageHeadSuite extends AnyFunSuite with DrawnValues {
  import PageHeadSuite._

  test("headers one after the other: none keeps anything of the one before") {
    forDrawn(Gen.nonEmptyListOf(headers)) { stored =>
      val bytes = stored.map(bytesOf).reduce(_ ++ _)
      val head = new PageHead
      val in = new ByteArrayInputStream(bytes)
      val end = stored.foldLeft(0) { (at, _) =>
        val next = head.read(bytes, at, bytes.length)
        check(head, Util.readPageHeader(in))
        assert(next == bytes.length - in.available)
        next
      }
      assert(end == bytes.length)
    }
  }

  test("fields that the format did not know are left out") {
    val structs = Seq(Nil, Seq(5), Seq(6), Seq(7), Seq(8))
    forDrawn(Gen.zip(headers, ThriftValue.structs(depth = 3))) { case (stored, more) =>
      val later = structs.foldLeft(ThriftValue.read(bytesOf(stored))) { (root, path) =>
        ThriftValue.change(root, path: _*)(struct =>
          Struct(struct.fields ++ more.fields.zipWithIndex.map { case ((_, v), i) => (100 + 20 * i) -> v })
        )
      }
      val bytes = ThriftValue.write(later)
      val head = new PageHead
      assert(head.read(bytes, 0, bytes.length) == bytes.length)
      assert(Util.readPageHeader(new ByteArrayInputStream(bytes)) == stored)
      check(head, stored)
    }
  }

  test("a header that is cut off is refused, wherever it is cut") {
    forDrawn(headers) { stored =>
      val bytes = bytesOf(stored)
      bytes.indices.foreach(end => intercept[MalformedPage](new PageHead().read(bytes, 0, end)))
    }
  }

  test("what the format requires is missed by us as by parquet-java") {
    val required = Seq(
      (v1, Nil, Seq(1, 2, 3)),
      (v1, Seq(5), Seq(1, 2, 3, 4)),
      (v2, Nil, Seq(1, 2, 3)),
      (v2, Seq(8), Seq(1, 4, 5, 6)),
      (dictionary, Nil, Seq(1, 2, 3)),
      (dictionary, Seq(7), Seq(1)),
      (index, Nil, Seq(1, 2, 3))
    )
    forRows(required) { case (header, struct, fields) =>
      fields.foreach { field =>
        val lacking = without(header, struct, field)
        assert(lacking != header)
        assert(Try(Util.readPageHeader(new ByteArrayInputStream(ThriftValue.write(lacking)))).isFailure)
        withClue(s"field $field: ")(intercept[MalformedPage](headOf(lacking)))
      }
    }
  }

  test("what cannot be is refused") {
    val cases = Seq(
      (replaced(v1, Nil, 2, I32(-1)), "its header is not complete"),
      (replaced(v1, Nil, 3, I32(Int.MinValue)), "its header is not complete"),
      (replaced(v1, Seq(5), 1, I32(-1)), "its header is not complete"),
      (replaced(v1, Seq(5), 2, I32(1)), "encoding 1 is unknown"),
      (replaced(v1, Seq(5), 3, I32(-1)), "encoding -1 is unknown"),
      (replaced(v1, Seq(5), 4, I32(10)), "encoding 10 is unknown"),
      (replaced(v2, Seq(8), 1, I32(-1)), "its header is not complete"),
      (replaced(v2, Seq(8), 4, I32(99)), "encoding 99 is unknown"),
      (replaced(v2, Seq(8), 5, I32(-1)), "its header is not complete"),
      (replaced(v2, Seq(8), 6, I32(-1)), "its header is not complete"),
      (replaced(dictionary, Seq(7), 1, I32(-1)), "its header is not complete"),
      (without(v1, Nil, 5), "its header is not complete"),
      (without(v2, Nil, 8), "its header is not complete"),
      (without(dictionary, Nil, 7), "its header is not complete"),
      (replaced(v1, Nil, 1, I32(3)), "its header is not complete"),
      (replaced(v2, Nil, 1, I32(0)), "its header is not complete")
    )
    forRows(cases) { case (header, message) =>
      assert(intercept[MalformedPage](headOf(header)).getMessage.endsWith(message))
    }
  }

  test("a kind of page that the format did not know has its sizes, to be passed over") {
    forRows(Seq(4, 17, -1, Int.MaxValue)) { kind =>
      val head = headOf(replaced(index, Nil, 1, I32(kind)))
      assert((head.kind, head.uncompressedSize, head.compressedSize) == ((null, 200, 100)))
    }
  }

  test("pages of version 2 are compressed unless they say otherwise") {
    forRows(Seq((None, true), (Some(true), true), (Some(false), false))) {
      case (told, compressed) =>
        val stored = Util.readPageHeader(new ByteArrayInputStream(ThriftValue.write(v2)))
        told.foreach(stored.getData_page_header_v2.setIs_compressed(_))
        val bytes = bytesOf(stored)
        val head = new PageHead
        head.read(bytes, 0, bytes.length)
        assert(head.isCompressed == compressed)
        check(head, stored)
    }
  }

  test("a checksum is a number without a sign") {
    forRows(Seq((0, 0L), (1, 1L), (-1, 0xffffffffL), (Int.MinValue, 0x80000000L))) {
      case (stored, checksum) =>
        val bytes = bytesOf(new PageHeader(PageType.INDEX_PAGE, 1, 1).setCrc(stored))
        val head = new PageHead
        head.read(bytes, 0, bytes.length)
        assert(head.checksum == checksum)
    }
  }

  private def headOf(tree: Struct): PageHead = {
    val bytes = ThriftValue.write(tree)
    val head = new PageHead
    assert(head.read(bytes, 0, bytes.length) == bytes.length)
    head
  }

  private def check(ours: PageHead, theirs: PageHeader): Unit = {
    assert(ours.kind == theirs.getType)
    assert(ours.uncompressedSize == theirs.getUncompressed_page_size)
    assert(ours.compressedSize == theirs.getCompressed_page_size)
    assert(ours.checksum == (if (theirs.isSetCrc) Integer.toUnsignedLong(theirs.getCrc) else -1L))
    theirs.getType match {
      case PageType.DATA_PAGE =>
        val data = theirs.getData_page_header
        assert(ours.values == data.getNum_values)
        assert(ours.encoding == nameOf(data.getEncoding))
        assert(ours.definitionEncoding == nameOf(data.getDefinition_level_encoding))
        assert(ours.repetitionEncoding == nameOf(data.getRepetition_level_encoding))
      case PageType.DATA_PAGE_V2 =>
        val data = theirs.getData_page_header_v2
        assert(ours.values == data.getNum_values)
        assert(ours.encoding == nameOf(data.getEncoding))
        assert(ours.definitionSize == data.getDefinition_levels_byte_length)
        assert(ours.repetitionSize == data.getRepetition_levels_byte_length)
        assert(ours.isCompressed == data.isIs_compressed)
        assert((ours.definitionEncoding, ours.repetitionEncoding) == ((null, null)))
      case PageType.DICTIONARY_PAGE =>
        assert(ours.values == theirs.getDictionary_page_header.getNum_values)
        assert(ours.encoding == null)
      case PageType.INDEX_PAGE => assert((ours.values, ours.encoding) == ((-1, null)))
    }
    ()
  }

  private def nameOf(encoding: Encoding): column.Encoding = column.Encoding.valueOf(encoding.name)
}

object PageHeadSuite {

  private def bytesOf(header: PageHeader): Array[Byte] = {
    val out = new ByteArrayOutputStream
    Util.writePageHeader(header, out)
    out.toByteArray
  }

  private def treeOf(kind: PageType)(set: PageHeader => PageHeader): Struct =
    ThriftValue.read(bytesOf(set(new PageHeader(kind, 200, 100))))

  private val v1 = treeOf(PageType.DATA_PAGE)(
    _.setData_page_header(new DataPageHeader(10, Encoding.PLAIN, Encoding.RLE, Encoding.BIT_PACKED))
  )
  private val v2 = treeOf(PageType.DATA_PAGE_V2)(
    _.setData_page_header_v2(new DataPageHeaderV2(10, 1, 9, Encoding.RLE_DICTIONARY, 3, 2))
  )
  private val dictionary = treeOf(PageType.DICTIONARY_PAGE)(
    _.setDictionary_page_header(new DictionaryPageHeader(10, Encoding.PLAIN))
  )
  private val index = treeOf(PageType.INDEX_PAGE)(_.setIndex_page_header(new IndexPageHeader()))

  private val counts = Gen.oneOf(Gen.choose(0, 100), Gen.choose(0, Int.MaxValue))
  private val encodings = Gen.oneOf(Encoding.values.toSeq)
  private val statistics = Gen.option(
    Gen.alphaStr.map(text => new Statistics().setNull_count(3).setMax_value(text.getBytes))
  )

  private val dataV1: Gen[DataPageHeader] = for {
    values <- counts
    all <- Gen.listOfN(3, encodings)
    bounds <- statistics
  } yield {
    val header = new DataPageHeader(values, all(0), all(1), all(2))
    bounds.foreach(header.setStatistics(_))
    header
  }

  private val dataV2: Gen[DataPageHeaderV2] = for {
    numbers <- Gen.listOfN(5, counts)
    encoding <- encodings
    compressed <- Gen.option(Arbitrary.arbitrary[Boolean])
    bounds <- statistics
  } yield {
    val header =
      new DataPageHeaderV2(numbers(0), numbers(1), numbers(2), encoding, numbers(3), numbers(4))
    compressed.foreach(header.setIs_compressed(_))
    bounds.foreach(header.setStatistics(_))
    header
  }

  private val dictionaries: Gen[DictionaryPageHeader] = for {
    values <- counts
    encoding <- encodings
    sorted <- Gen.option(Arbitrary.arbitrary[Boolean])
  } yield {
    val header = new DictionaryPageHeader(values, encoding)
    sorted.foreach(header.setIs_sorted(_))
    header
  }

  private val headers: Gen[PageHeader] = for {
    sizes <- Gen.zip(counts, counts)
    crc <- Gen.option(Arbitrary.arbitrary[Int])
    header <- Gen.oneOf(
      dataV1.map(new PageHeader(PageType.DATA_PAGE, sizes._1, sizes._2).setData_page_header(_)),
      dataV2.map(new PageHeader(PageType.DATA_PAGE_V2, sizes._1, sizes._2).setData_page_header_v2(_)),
      dictionaries.map(
        new PageHeader(PageType.DICTIONARY_PAGE, sizes._1, sizes._2).setDictionary_page_header(_)
      ),
      Gen.const(
        new PageHeader(PageType.INDEX_PAGE, sizes._1, sizes._2).setIndex_page_header(new IndexPageHeader())
      )
    )
  } yield {
    crc.foreach(header.setCrc(_))
    header
  }
}
