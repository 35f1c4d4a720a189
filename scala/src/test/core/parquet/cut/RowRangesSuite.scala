package io.deltaupkeep.parquet.cut

import java.math.BigInteger
import java.nio.{ByteBuffer, ByteOrder}

import io.deltaupkeep.parquet.DrawnValues
import io.deltaupkeep.parquet.encoding.{ValueShape, Values}

import org.apache.parquet.schema.MessageTypeParser
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

/** Ranges follow each other as plain sorting of all values would have it. */
class RowRangesSuite extends AnyFunSuite with DrawnValues {
  import RowOrderSuite.Column

  private def drawn[V](column: Column[V]): Gen[Option[V]] =
    Gen.frequency(5 -> column.values.map(Option(_)), 1 -> Gen.const(Option.empty[V]))

  RowOrderSuite.columns.foreach(column => test(s"ranges of ${column.field}")(check(column)))

  private def check[V](column: Column[V]): Unit = {
    val cases = for {
      rows <- Gen.listOf(Gen.listOfN(2, drawn(column)))
      descending <- Gen.listOfN(2, Gen.oneOf(true, false))
      count <- Gen.choose(1, 6)
      parts <- Gen.choose(1, 4)
    } yield (rows.toIndexedSeq, descending.toIndexedSeq, count, parts)
    forDrawn(cases) { case (rows, descending, count, parts) =>
      def keysOf(some: Seq[Int]) =
        IndexedSeq(0, 1).map(key => column.held(some.map(rows(_)(key)).toIndexedSeq))
      val ofParts = rows.indices.groupBy(_ * parts / math.max(1, rows.size)).toSeq.sortBy(_._1).map(_._2)
      val samples = ofParts.map(some => KeySample.of(keysOf(some), some.size, most = 20))
      val ranges = RowRanges.of(samples, Lexicographic(descending), count)
      assert(ranges.count <= count)
      val rangeOf = ofParts.zipWithIndex.flatMap { case (some, part) =>
        some.zip(ranges.of(keysOf(some), some.size, part, ofParts.size, threads = 2))
      }.sortBy(_._1).map(_._2).toIndexedSeq
      assert(rangeOf.forall(range => range >= 0 && range < ranges.count))
      // Equal keys stay in the order of parts, so the order of all rows is that of the ranges.
      val order = RowOrder.of(keysOf(rows.indices), rows.size, Lexicographic(descending), threads = 1)
      val inOrder = order.toSeq.map(rangeOf)
      assert(inOrder == inOrder.sorted)
    }
  }

  test("ranges have about as many rows each, even if most rows have one value") {
    val column = RowOrderSuite.columns.collectFirst { case c if c.field.contains("int64") => c }
      .get.asInstanceOf[Column[Long]]
    val orders = Seq(Curve.ZOrder, Curve.Hilbert, Lexicographic(IndexedSeq(false, true)))
    for (order <- orders; same <- Seq(0, 50, 90, 100)) {
      val parts = 8
      // Parts differ in what they have, as when a table grows.
      val values =
        (0 until parts).map(part => (0 until 500).map(i => if (i % 100 < same) 7L else part * 1000L + i))
      def keysOf(part: Int) = {
        val rows = values(part).map(Option(_))
        IndexedSeq(column.held(rows), column.held(rows.map(_.map(_ % 3))))
      }
      val samples = (0 until parts).map(part => KeySample.of(keysOf(part), 500, most = 300))
      val ranges = RowRanges.of(samples, order, 8)
      val found = (0 until parts).flatMap(part => ranges.of(keysOf(part), 500, part, parts, threads = 1))
      val sizes = found.groupBy(identity).values.map(_.size)
      assert(sizes.size == 8 && sizes.max < 2 * 500, s"$order, $same %: $sizes")
    }
  }

  test("a part without rows, and a bin without any, have ranges too") {
    val column = RowOrderSuite.columns.head
    val none = IndexedSeq(column.held(IndexedSeq.empty))
    val empty = KeySample.of(none, 0, most = 10)
    for (order <- Seq(Curve.ZOrder, Lexicographic(IndexedSeq(false)))) {
      val ranges = RowRanges.of(Seq(empty, empty), order, 3)
      assert(ranges.of(none, 0, 0, 2, threads = 1).isEmpty && ranges.count == 1)
    }
  }

  test("a value has the same words in each form that files store it in") {
    def wordsOf(field: String, plain: Array[Byte]): Seq[Long] = {
      val primitive = MessageTypeParser.parseMessageType(s"message m { required $field; }").getColumns.get(0)
        .getPrimitiveType
      val values = new Values().set(ValueShape.of(primitive), plain, 0, plain.length, 1)
      val words = ValueWords.ofAnyForm(primitive, values)
      (0 until words.words(0)).map(words.word(0, _))
    }
    def plain(size: Int)(put: ByteBuffer => Any): Array[Byte] = {
      val buffer = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN)
      put(buffer)
      buffer.array
    }
    forDrawn(Gen.oneOf(Gen.choose(-3L, 3L), Gen.choose(-999999999L, 999999999L))) { value =>
      val digits = BigInteger.valueOf(value).toByteArray
      val fixed = Array.fill(8 - digits.length)((value >> 63).toByte) ++ digits
      val forms = Seq(
        wordsOf("int32 a (DECIMAL(9,2))", plain(4)(_.putInt(value.toInt))),
        wordsOf("int64 a (DECIMAL(9,2))", plain(8)(_.putLong(value))),
        wordsOf("fixed_len_byte_array(8) a (DECIMAL(9,2))", fixed),
        wordsOf("binary a (DECIMAL(9,2))", plain(4 + digits.length)(_.putInt(digits.length).put(digits)))
      )
      assert(forms.distinct.size == 1, forms)
    }
    forDrawn(Gen.choose(-(1L << 55), 1L << 55)) { micros =>
      val (day, ofDay) = (Math.floorDiv(micros, 86400000000L), Math.floorMod(micros, 86400000000L))
      val julian = plain(12)(_.putLong(ofDay * 1000).putInt((day + 2440588).toInt))
      val stored = wordsOf("int64 a (TIMESTAMP(MICROS,true))", plain(8)(_.putLong(micros)))
      assert(wordsOf("int96 a", julian) == stored)
    }
  }
}
