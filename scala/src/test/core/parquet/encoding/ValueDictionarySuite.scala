package io.deltaupkeep.parquet.encoding

import java.io.ByteArrayInputStream

import io.deltaupkeep.parquet.DrawnValues
import io.deltaupkeep.parquet.PlainBytes._

import org.apache.parquet.bytes.{BytesInput, HeapByteBufferAllocator}
import org.apache.parquet.column.{ColumnDescriptor, Dictionary, Encoding}
import org.apache.parquet.column.page.DictionaryPage
import org.apache.parquet.column.values.dictionary.DictionaryValuesWriter
import org.apache.parquet.column.values.dictionary.DictionaryValuesWriter._
import org.apache.parquet.column.values.rle.RunLengthBitPackingHybridDecoder
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{PrimitiveType, Types}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.parquet.schema.Type.Repetition.REQUIRED
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

/** Dictionaries are those that parquet-java's writers make, and its readers find the values in them. */
class ValueDictionarySuite extends AnyFunSuite with DrawnValues {
  import ValueDictionarySuite._

  for (kind <- kinds) test(s"the same dictionary and ids as parquet-java's: $kind") {
    val dictionary = new ValueDictionary
    forDrawn(kind.values) { values =>
      val writer = kind.writer()
      values.foreach(kind.write(writer, _))
      val bytes = writer.getBytes.toInputStream.readAllBytes()
      val page = writer.toDictPageAndClose()
      dictionary.reset(ValueShape.of(kind.primitive), 1 << 20)
      val ids = values.map(idOf(dictionary, kind, _))
      if (values.nonEmpty) {
        val width = bytes.head.toInt
        val decoder = new RunLengthBitPackingHybridDecoder(
          width,
          new ByteArrayInputStream(bytes, 1, bytes.length - 1)
        )
        assert(ids == values.map(_ => if (width == 0) 0 else decoder.readInt()))
        assert(dictionary.size == page.getDictionarySize)
        assert(pageOf(dictionary).toSeq == page.getBytes.toInputStream.readAllBytes().toSeq)
      } else assert((dictionary.size, dictionary.byteSize) == ((0, 0)))
    }
  }

  for (kind <- kinds) test(s"parquet-java finds every value under its id: $kind") {
    val dictionary = new ValueDictionary
    forDrawn(Gen.zip(kind.values, kind.values)) { case (first, second) =>
      Seq(first, second).foreach { values =>
        dictionary.reset(ValueShape.of(kind.primitive), 1 << 20)
        val ids = values.map(idOf(dictionary, kind, _))
        val read = readerOf(dictionary, kind)
        assert(ids.map(id => kind.bits(read, id)) == values.map(_.toSeq))
      }
    }
  }

  test("numbers are told apart by their bits: zeros, and NaNs that carry something") {
    val doubles = Seq(0.0, -0.0, Double.NaN, 1.0).map(java.lang.Double.doubleToRawLongBits) ++
      Seq(0x7ff8000000000001L, 0xfff8000000000000L, 0x7ff0000000000000L)
    val floats = Seq(0.0f, -0.0f, Float.NaN, 1.0f).map(java.lang.Float.floatToRawIntBits) ++
      Seq(0x7fc00001, 0xffc00000, 0x7f800000)
    forRows(Seq((ofDoubles, doubles.map(plain(_))), (ofFloats, floats.map(plain(_))))) {
      case (kind, values) =>
        val dictionary = new ValueDictionary
        dictionary.reset(ValueShape.of(kind.primitive), 1 << 20)
        assert((values ++ values).map(idOf(dictionary, kind, _)) == values.indices ++ values.indices)
        val read = readerOf(dictionary, kind)
        assert(values.indices.map(kind.bits(read, _)) == values.map(_.toSeq))
    }
  }

  test("more values than the table has room for at first, and then few again") {
    val dictionary = new ValueDictionary
    forRows(Seq(511, 512, 513, 1024, 20000, 3)) { count =>
      kinds.foreach { kind =>
        dictionary.reset(ValueShape.of(kind.primitive), Int.MaxValue)
        val values = (0 until count).map(kind.nth)
        val twice = (values ++ values).map(idOf(dictionary, kind, _))
        assert(twice == values.indices ++ values.indices)
        val read = readerOf(dictionary, kind)
        assert(values.indices.forall(id => kind.bits(read, id) == values(id).toSeq))
      }
    }
  }

  test("no more bytes than are allowed, and the values that are there are still found") {
    forDrawn(Gen.zip(Gen.oneOf(kinds), Gen.choose(0, 200)).flatMap { case (kind, bytes) =>
      kind.values.map((kind, bytes, _))
    }) { case (kind, bytes, values) =>
      val dictionary = new ValueDictionary
      dictionary.reset(ValueShape.of(kind.primitive), bytes)
      values.foldLeft(Vector.empty[Seq[Byte]]) { (known, value) =>
        val at = known.indexOf(value.toSeq)
        val fits = known.map(_.length).sum + value.length <= bytes
        val id = idOf(dictionary, kind, value)
        assert(id == (if (at >= 0) at else if (fits) known.size else ValueDictionary.Full))
        val now = if (at < 0 && fits) known :+ value.toSeq else known
        assert((dictionary.size, dictionary.byteSize) == ((now.size, now.map(_.length).sum)))
        now
      }
    }
  }

  test("the first entries stay where later ones are given up") {
    forDrawn(Gen.zip(Gen.oneOf(kinds), Gen.choose(0d, 1d)).flatMap { case (kind, share) =>
      kind.values.map((kind, share, _))
    }) { case (kind, share, values) =>
      val dictionary = new ValueDictionary
      dictionary.reset(ValueShape.of(kind.primitive), 1 << 20)
      values.foreach(idOf(dictionary, kind, _))
      val distinct = values.map(_.toSeq).distinct
      val kept = (dictionary.size * share).toInt
      dictionary.truncate(kept)
      assert(dictionary.size == kept)
      assert(pageOf(dictionary).toSeq == distinct.take(kept).flatten)
      assert((0 to kept).map(dictionary.start) == distinct.take(kept).scanLeft(0)(_ + _.length))
    }
  }
}

object ValueDictionarySuite {

  /** Values by their PLAIN bytes. */
  private final case class Kind(
      primitive: PrimitiveType,
      writer: () => DictionaryValuesWriter,
      write: (DictionaryValuesWriter, Array[Byte]) => Unit,
      bits: (Dictionary, Int) => Seq[Byte],
      one: Gen[Array[Byte]],
      nth: Int => Array[Byte]
  ) {
    override def toString: String = primitive.toString

    /** Some values repeat. */
    val values: Gen[Seq[Array[Byte]]] = for {
      few <- Gen.listOfN(3, one)
      all <- Gen.listOf(Gen.oneOf(Gen.oneOf(few), one))
    } yield all
  }

  private val plainly = Encoding.PLAIN
  private def allocator = new HeapByteBufferAllocator

  private def sized(text: Array[Byte]): Array[Byte] = plain(text.length) ++ text

  private def type_(name: PrimitiveType.PrimitiveTypeName): PrimitiveType =
    Types.primitive(name, REQUIRED).named("x")

  private val ints = Gen.oneOf(Gen.choose(-3, 3), Gen.choose(Int.MinValue, Int.MaxValue))
  private val longs = Gen.oneOf(Gen.choose(-3L, 3L), Gen.choose(Long.MinValue, Long.MaxValue))
  private val texts =
    Gen.oneOf(Gen.choose(0, 3), Gen.choose(0, 30)).flatMap(Gen.listOfN(_, Gen.oneOf(Seq[Byte](0, 1, -1, 97))))

  /** Neighbours of a kind, zeros of both signs, and infinities; parquet-java's map takes all NaNs for one. */
  private val doubles = Gen.oneOf(
    Gen.choose(-3.0, 3.0),
    Gen.oneOf(0.0, -0.0, Double.NaN, Double.PositiveInfinity, Double.MinPositiveValue)
  )

  private val ofInts = Kind(
    type_(INT32),
    () => new PlainIntegerDictionaryValuesWriter(1 << 20, plainly, plainly, allocator),
    (writer, value) => writer.writeInteger(intOf(value)),
    (dictionary, id) => plain(dictionary.decodeToInt(id)).toSeq,
    ints.map(plain(_)),
    i => plain(i * 1024)
  )

  private val ofLongs = Kind(
    type_(INT64),
    () => new PlainLongDictionaryValuesWriter(1 << 20, plainly, plainly, allocator),
    (writer, value) => writer.writeLong(longOf(value)),
    (dictionary, id) => plain(dictionary.decodeToLong(id)).toSeq,
    longs.map(plain(_)),
    i => plain(i.toLong << 40)
  )

  private val ofFloats = Kind(
    type_(FLOAT),
    () => new PlainFloatDictionaryValuesWriter(1 << 20, plainly, plainly, allocator),
    (writer, value) => writer.writeFloat(java.lang.Float.intBitsToFloat(intOf(value))),
    (dictionary, id) => plain(java.lang.Float.floatToRawIntBits(dictionary.decodeToFloat(id))).toSeq,
    doubles.map(value => plain(java.lang.Float.floatToRawIntBits(value.toFloat))),
    i => plain(java.lang.Float.floatToRawIntBits(i.toFloat))
  )

  private val ofDoubles = Kind(
    type_(DOUBLE),
    () => new PlainDoubleDictionaryValuesWriter(1 << 20, plainly, plainly, allocator),
    (writer, value) => writer.writeDouble(java.lang.Double.longBitsToDouble(longOf(value))),
    (dictionary, id) => plain(java.lang.Double.doubleToRawLongBits(dictionary.decodeToDouble(id))).toSeq,
    doubles.map(value => plain(java.lang.Double.doubleToRawLongBits(value))),
    i => plain(java.lang.Double.doubleToRawLongBits(i.toDouble))
  )

  private val ofTexts = Kind(
    type_(BINARY),
    () => new PlainBinaryDictionaryValuesWriter(1 << 20, plainly, plainly, allocator),
    (writer, value) => writer.writeBytes(Binary.fromConstantByteArray(value.drop(4))),
    (dictionary, id) => sized(dictionary.decodeToBinary(id).getBytes).toSeq,
    texts.map(text => sized(text.toArray)),
    i => sized(i.toString.getBytes)
  )

  private def ofFixed(width: Int) = Kind(
    Types.primitive(FIXED_LEN_BYTE_ARRAY, REQUIRED).length(width).named("x"),
    () => new PlainFixedLenArrayDictionaryValuesWriter(1 << 20, width, plainly, plainly, allocator),
    (writer, value) => writer.writeBytes(Binary.fromConstantByteArray(value)),
    (dictionary, id) => dictionary.decodeToBinary(id).getBytes.toSeq,
    Gen.listOfN(width, Gen.oneOf(Seq[Byte](0, 1))).map(_.toArray),
    i => plain(i).padTo(width, 0.toByte)
  )

  private val kinds = Seq(ofInts, ofLongs, ofFloats, ofDoubles, ofTexts) ++ Seq(4, 5, 8, 16).map(ofFixed)

  /** The value lies between others. */
  private def idOf(dictionary: ValueDictionary, kind: Kind, value: Array[Byte]): Int =
    dictionary.idOf(Array[Byte](9, 9) ++ value ++ Array[Byte](9), 2, 2 + value.length)

  private def pageOf(dictionary: ValueDictionary): Array[Byte] = dictionary.array.take(dictionary.byteSize)

  private def readerOf(dictionary: ValueDictionary, kind: Kind): Dictionary = {
    val page = new DictionaryPage(BytesInput.from(pageOf(dictionary)), dictionary.size, Encoding.PLAIN)
    page.decode(new ColumnDescriptor(Array("x"), kind.primitive, 0, 0))
  }
}
