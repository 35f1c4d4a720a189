package io.deltaupkeep.parquet.bytes

import scala.util.{Failure, Success, Try}

import io.deltaupkeep.parquet.{DrawnValues, ThriftValue}
import io.deltaupkeep.parquet.ThriftValue._

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

/** What Thrift writes is what we read, and what Thrift steps over we step over. */
class CompactReaderSuite extends AnyFunSuite with DrawnValues {

  private val written = structs(depth = 3)

  test("every field is read as Thrift wrote it") {
    forDrawn(written) { struct =>
      val bytes = ThriftValue.write(struct)
      val in = new CompactReader(bytes, 0, bytes.length)
      checkStruct(in, struct)
      assert(in.position == bytes.length)
    }
  }

  test("fields of any kind are skipped, wherever the struct lies") {
    forDrawn(Gen.zip(written, Gen.choose(0, 9))) { case (struct, offset) =>
      val bytes = ThriftValue.write(struct)
      val around = Array.fill(offset)(0x77.toByte) ++ bytes ++ Array.fill(offset)(0x77.toByte)
      assert(ThriftValue.lengthOf(bytes) == bytes.length)
      assert(skipped(around, offset, around.length) == offset + bytes.length)
    }
  }

  test("what is cut off is refused, wherever it is cut") {
    forDrawn(structs(depth = 2)) { struct =>
      val bytes = ThriftValue.write(struct)
      bytes.indices.foreach { end =>
        intercept[MalformedPage](skipped(bytes, 0, end))
        intercept[MalformedPage](checkStruct(new CompactReader(bytes, 0, end), struct))
      }
    }
  }

  test("damaged bytes are refused, or end where they end for Thrift") {
    val damages = Gen.nonEmptyListOf(Gen.zip(Gen.choose(0d, 1d), Gen.choose(0, 255))).map(_.take(3))
    forDrawn(Gen.zip(written, damages)) { case (struct, damages) =>
      val bytes = ThriftValue.write(struct)
      damages.foreach { case (place, value) => bytes(((bytes.length - 1) * place).toInt) = value.toByte }
      Try(skipped(bytes, 0, bytes.length)) match {
        case Success(end) => Try(ThriftValue.lengthOf(bytes)).foreach(length => assert(end == length))
        case Failure(e) => assert(e.isInstanceOf[MalformedPage], e)
      }
    }
  }

  test("numbers at the ends of their ranges") {
    val numbers = Seq(0L, 1L, -1L, 63L, 64L, -64L, -65L) ++
      Seq(Byte.MinValue, Byte.MaxValue).map(_.toLong) ++ Seq(Short.MinValue, Short.MaxValue).map(_.toLong) ++
      Seq(Int.MinValue, Int.MaxValue).map(_.toLong) ++ Seq(Long.MinValue, Long.MaxValue)
    forRows(numbers) { number =>
      val whole = if (number.isValidInt) Seq(I32(number.toInt), I64(number)) else Seq(I64(number))
      val struct = Struct(whole.map(1 -> _))
      val bytes = ThriftValue.write(struct)
      checkStruct(new CompactReader(bytes, 0, bytes.length), struct)
    }
  }

  test("lists of any length, also those whose size does not go into their first byte") {
    forRows(Seq(0, 1, 14, 15, 16, 127, 128, 20000)) { size =>
      val struct = Struct(Seq(
        1 -> Items(8, Seq.tabulate(size)(I32(_))),
        2 -> Items(2, Seq.tabulate(size)(i => Bool(i % 3 == 0))),
        3 -> Pairs(3, 2, Seq.tabulate(size)(i => I8(i.toByte) -> Bool(i % 2 == 0))),
        4 -> Bool(true)
      ))
      val bytes = ThriftValue.write(struct)
      val in = new CompactReader(bytes, 0, bytes.length)
      checkStruct(in, struct)
      assert(in.position == bytes.length)
    }
  }

  test("what no writer means is refused") {
    val cases = Seq(
      (Seq(0x1e, 0), "a kind of field that the protocol does not have"),
      (Seq(0x1f, 0), "another one"),
      (Seq(0x18, 0x05, 'a', 'b', 0), "a text that is longer than what is left"),
      (Seq(0x18, 0xff, 0xff, 0xff, 0xff, 0x0f, 0), "a text of almost 4 GiB"),
      (Seq(0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0), "a length below 0"),
      (Seq(0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x07, 0), "a list of 2^31 numbers"),
      (Seq(0x1b, 0xff, 0xff, 0xff, 0xff, 0x07, 0x55, 0), "a map of 2^31 pairs"),
      (0x16 +: Seq.fill(10)(0xff) :+ 0x01 :+ 0, "a number of more than 64 bits"),
      (Seq.fill(100)(0x1c) ++ Seq.fill(101)(0), "100 structs in each other"),
      (Seq.fill(100)(0x1c), "structs that do not end"),
      (Seq(0x19) ++ Seq.fill(100)(0x19) ++ Seq(0), "100 lists in each other")
    )
    forRows(cases) { case (bytes, why) =>
      withClue(why)(intercept[MalformedPage](skipped(bytes.map(_.toByte).toArray, 0, bytes.length)))
    }
  }

  test("a field that must be there is missed, whichever else is") {
    val required = CompactReader.fields(0, 3, 63)
    val there = Seq(0, 3, 63, 64, -1, 67).map(_ -> I32(1))
    def read(fields: Seq[(Int, ThriftValue)]): Unit = {
      val bytes = ThriftValue.write(Struct(fields))
      val in = new CompactReader(bytes, 0, bytes.length)
      in.readFields(required)(_ => in.skip())
      assert(in.position == bytes.length)
    }
    read(there)
    // 64 and 67 have the bits of 0 and 3 in a shift, and -1 that of 63.
    Seq(0, 3, 63).foreach(id => intercept[MalformedPage](read(there.filterNot(_._1 == id))))
  }

  private def skipped(bytes: Array[Byte], from: Int, end: Int): Int = {
    val in = new CompactReader(bytes, from, end)
    in.readStruct(_ => in.skip())
    in.position
  }

  private def checkStruct(in: CompactReader, struct: Struct): Unit = {
    val fields = struct.fields.iterator
    in.readStruct { id =>
      val (expected, value) = fields.next()
      assert(id == expected)
      value match {
        case Bool(v) => assert(in.readBoolean() == v)
        case other => checkValue(in, other)
      }
    }
    assert(fields.isEmpty)
  }

  private def checkValue(in: CompactReader, value: ThriftValue): Unit = value match {
    case I16(v) => assert(in.readInt() == v)
    case I32(v) => assert(in.readInt() == v)
    case I64(v) => assert(in.readLong() == v)
    case blob: Blob => assert(in.readString() == blob.text)
    case struct: Struct => checkStruct(in, struct)
    case Items(_, values) =>
      val elements = values.iterator
      in.readList(() => checkValue(in, elements.next()))
      assert(elements.isEmpty)
    case _ => in.skip()
  }
}
