package io.deltaupkeep.parquet.cut

import java.math.BigInteger
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.charset.StandardCharsets.UTF_8

import io.deltaupkeep.FuzzSeeds
import io.deltaupkeep.parquet.DrawnValues
import io.deltaupkeep.parquet.encoding.{ValueShape, Values}

import org.apache.parquet.schema.MessageTypeParser
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

/** Rows are ordered as plain sorting of their values, and the plain definition of a curve, would order them. */
class RowOrderSuite extends AnyFunSuite with DrawnValues {
  import RowOrderSuite._

  columns.foreach(column => test(s"ranks of ${column.field}")(checkRanks(column)))

  private def checkRanks[V](column: Column[V]): Unit =
    forDrawn(Gen.listOf(Gen.frequency(5 -> column.values.map(Option(_)), 1 -> Gen.const(Option.empty[V])))) {
      values =>
        val rows = values.toIndexedSeq
        def isBelow(a: Option[V], b: Option[V]) = (a, b) match {
          case (Some(one), Some(other)) => column.compare(one, other) < 0
          case (one, other) => one.isEmpty && other.nonEmpty
        }
        val expected = rows.map(row => ((rows.count(isBelow(_, row)).toLong << 20) / rows.size).toInt)
        assert(KeyRanks.of(column.held(rows), rows.size, bits = 20, threads = 2).toSeq == expected)
    }

  test("equal keys keep their order, and keys are unsigned") {
    val keys = for {
      few <- Gen.oneOf(true, false)
      size <- Gen.oneOf(0, 1, 5, 33, 100, 20000)
      keys <- Gen.listOfN(size, if (few) Gen.choose(-3L, 3L).map(_ << 40) else Gen.long)
    } yield keys.toArray
    forDrawn(keys.flatMap(all => Gen.choose(0, all.length).map(all -> _))) { case (all, from) =>
      val (sorted, items) = (all.clone, all.indices.toArray)
      new RadixSort(all.length).sort(sorted, items, from, all.length)
      val expected = all.indices.drop(from).sortWith((a, b) =>
        java.lang.Long.compareUnsigned(all(a), all(b)) match {
          case 0 => a < b
          case order => order < 0
        }
      )
      assert(items.toSeq == all.indices.take(from) ++ expected)
      assert(sorted.toSeq == items.toSeq.map(all(_)))
    }
  }

  test("keys that are all equal stay as they are, however many") {
    for (size <- Seq(1, 32, 33, 100, 20000); key <- Seq(0L, 5L, -1L); threads <- Seq(1, 2)) {
      val (keys, items) = (Array.fill(size)(key), Array.range(0, size))
      new RadixSort(size, threads).sort(keys, items, 0, size)
      assert(items.toSeq == (0 until size) && keys.forall(_ == key), s"$size times $key")
    }
  }

  test("threads sort long ranges as one does") {
    // By the number of bits in which keys differ, from the lowest on; once, most are equal.
    val random = new scala.util.Random(FuzzSeeds(1).head)
    for ((shift, bits) <- Seq((0, 64), (0, 12), (3, 31), (40, 24), (0, 1), (7, 13)); same <- Seq(0, 90)) {
      val all = Array.fill(1 << 18) {
        if (random.nextInt(100) < same) 0L
        else (if (bits == 64) random.nextLong() else random.nextLong() & ((1L << bits) - 1)) << shift
      }
      val from = 5
      def sorted(threads: Int) = {
        val (keys, items) = (Array.fill(from)(9L) ++ all, Array.range(0, from + all.length))
        new RadixSort(all.length, threads).sort(keys, items, from, keys.length)
        (keys.toSeq, items.toSeq)
      }
      val expected = sorted(threads = 1)
      for (threads <- Seq(3, 300)) assert(sorted(threads) == expected, s"$bits bits from $shift on, $same %")
    }
  }

  /** The ranks of a row. */
  private def points(mostColumns: Int): Gen[Array[Int]] =
    for {
      columns <- Gen.choose(1, mostColumns)
      ranks <- Gen.listOfN(columns, Gen.choose(0, (1 << math.min(30, Curve.bitsOf(columns))) - 1))
    } yield ranks.toArray

  test("a Z-order takes the bits of its columns in turn, the highest first") {
    forDrawn(points(mostColumns = 70)) { ranks =>
      val bits = Curve.bitsOf(ranks.length)
      val inTurn =
        for (bit <- bits - 1 to 0 by -1; rank <- ranks.take(63))
          yield if ((rank >> bit & 1) == 1) '1' else '0'
      val place = new Curve.Interleaving(ranks.length, bits)(ranks)
      assert(BigInteger.valueOf(place) == new BigInteger(inTurn.mkString, 2))
    }
  }

  test("a Hilbert curve goes from each point of the space to a neighbour") {
    for ((columns, bits) <- Seq((2, 1), (2, 5), (3, 3), (4, 2), (5, 2))) {
      val side = 1 << bits
      val points = (0 until math.pow(side, columns).toInt).map { n =>
        Iterator.iterate(n)(_ / side).take(columns).map(_ % side).toArray
      }
      val interleaving = new Curve.Interleaving(columns, bits)
      val byPlace = points.map { point =>
        val bent = point.clone
        Curve.Hilbert.bend(bent, bits)
        interleaving(bent) -> point
      }.sortBy(_._1)
      assert(byPlace.map(_._1) == points.indices.map(_.toLong), s"$columns columns of $bits bits")
      byPlace.map(_._2).zip(byPlace.map(_._2).drop(1)).foreach { case (here, next) =>
        val steps = here.zip(next).map { case (a, b) => math.abs(a - b) }
        assert(steps.sum == 1, s"from ${here.mkString(",")} to ${next.mkString(",")}")
      }
    }
  }

  test("steps through a table lead to the same places as to bend the ranks") {
    forDrawn(points(mostColumns = 6)) { ranks =>
      val bits = Curve.bitsOf(ranks.length)
      val bent = ranks.clone
      Curve.Hilbert.bend(bent, bits)
      val expected = new Curve.Interleaving(ranks.length, bits)(bent)
      assert(Curve.Hilbert.placing(ranks.length, bits).of(ranks.clone) == expected)
    }
  }

  test("each row is in the order once, one column is sorted, and rows in one place keep their order") {
    val column = numbers
    forDrawn(Gen.nonEmptyListOf(Gen.choose(-5L, 5L))) { values =>
      val rows = values.map(Some(_)).toIndexedSeq
      val order = RowOrder.of(IndexedSeq(column.held(rows)), rows.size, Curve.ZOrder, threads = 2)
      assert(order.toSeq == rows.indices.sortBy(row => (values(row), row)))
      for (curve <- Seq(Curve.ZOrder, Curve.Hilbert, Lexicographic(IndexedSeq(true, false)))) {
        val keys = IndexedSeq(column.held(rows), column.held(rows.reverse))
        assert(RowOrder.of(keys, rows.size, curve, threads = 2).toSeq.sorted == rows.indices)
      }
    }
  }

  test("rows are sorted by one key after the other, each in its direction, nulls as the smallest") {
    val column = numbers
    val rows = Gen.nonEmptyListOf(Gen.listOfN(3, Gen.option(Gen.choose(-2L, 2L))))
    forDrawn(Gen.zip(rows, Gen.listOfN(3, Gen.oneOf(true, false)))) { case (rows, descending) =>
      val keys = (0 until 3).map(key => column.held(rows.map(_(key)).toIndexedSeq))
      val order = RowOrder.of(keys, rows.size, Lexicographic(descending.toIndexedSeq), threads = 2)
      // None is the smallest option too.
      val expected = rows.indices.sortWith { (one, other) =>
        val compared = (0 until 3).map { key =>
          val difference = implicitly[Ordering[Option[Long]]].compare(rows(one)(key), rows(other)(key))
          if (descending(key)) -difference else difference
        }
        compared.find(_ != 0).fold(one < other)(_ < 0)
      }
      assert(order.toSeq == expected)
    }
  }
}

private object RowOrderSuite {

  /** Values of a column, and how Java orders them. */
  abstract class Column[V](val field: String) {
    def values: Gen[V]
    def plain(value: V): Array[Byte]
    def compare(one: V, other: V): Int

    def held(rows: IndexedSeq[Option[V]]): HeldRows = {
      val column = MessageTypeParser.parseMessageType(s"message m { $field }").getColumns.get(0)
      val encoded = rows.flatten.map(plain)
      val starts = rows.scanLeft(0)((at, row) => at + row.size)
      val slots = rows.indices.map(row => if (rows(row).isEmpty) ~0 else starts(row)).toArray
      val bytes = encoded.toArray.flatten
      val shape = ValueShape.of(column.getPrimitiveType)
      val entries = new Values().set(shape, bytes, 0, bytes.length, encoded.size)
      new HeldRows(column, entries, slots, null, Array.emptyByteArray, rows.forall(_.nonEmpty))
    }
  }

  private def bytes(length: Int)(put: ByteBuffer => Unit): Array[Byte] = {
    val buffer = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN)
    put(buffer)
    buffer.array
  }

  private def text(value: Array[Byte]): Array[Byte] =
    bytes(4 + value.length)(_.putInt(value.length).put(value))

  private val texts: Gen[String] = for {
    prefix <- Gen.oneOf("", "https://example.org/a/long/common/prefix/", "x")
    rest <- Gen.oneOf(Gen.alphaNumStr, Gen.oneOf("", "a", "ab", "é", "ü", "中", "a" * 70))
  } yield prefix + rest

  private def decimals(field: String, encode: BigInteger => Array[Byte]): Column[BigInteger] =
    new Column[BigInteger](field) {
      private val edges = Seq(0L, 1L, -1L, 255L, -256L, Long.MaxValue, Long.MinValue).map(BigInteger.valueOf)
      override def values: Gen[BigInteger] =
        Gen.oneOf(Gen.oneOf(edges ++ edges.map(_.shiftLeft(50))), Gen.long.map(BigInteger.valueOf))
      override def plain(value: BigInteger): Array[Byte] = encode(value)
      override def compare(one: BigInteger, other: BigInteger): Int = one.compareTo(other)
    }

  private def padded(value: BigInteger): Array[Byte] = {
    val digits = value.toByteArray
    Array.fill(16 - digits.length)(if (value.signum < 0) -1.toByte else 0.toByte) ++ digits
  }

  private val numbers: Column[Long] =
    new Column[Long]("optional int64 a;") {
      override def values: Gen[Long] = Gen.oneOf(Gen.choose(-3L, 3L), Gen.long)
      override def plain(value: Long): Array[Byte] = bytes(8)(_.putLong(value))
      override def compare(one: Long, other: Long): Int = java.lang.Long.compare(one, other)
    }

  val columns: Seq[Column[_]] = Seq(
    new Column[Boolean]("optional boolean a;") {
      override def values: Gen[Boolean] = Gen.oneOf(true, false)
      override def plain(value: Boolean): Array[Byte] = bytes(1)(_.put((if (value) 1 else 0).toByte))
      override def compare(one: Boolean, other: Boolean): Int = java.lang.Boolean.compare(one, other)
    },
    new Column[Int]("optional int32 a (DATE);") {
      override def values: Gen[Int] = Gen.oneOf(Gen.choose(-3, 3), Gen.oneOf(Int.MinValue, Int.MaxValue))
      override def plain(value: Int): Array[Byte] = bytes(4)(_.putInt(value))
      override def compare(one: Int, other: Int): Int = Integer.compare(one, other)
    },
    numbers,
    new Column[Float]("optional float a;") {
      override def values: Gen[Float] =
        Gen.oneOf(
          0f,
          -0f,
          1f,
          -1f,
          Float.NaN,
          Float.PositiveInfinity,
          Float.NegativeInfinity,
          Float.MinPositiveValue
        )
      override def plain(value: Float): Array[Byte] = bytes(4)(_.putFloat(value))
      override def compare(one: Float, other: Float): Int = java.lang.Float.compare(one + 0f, other + 0f)
    },
    new Column[Double]("optional double a;") {
      override def values: Gen[Double] = Gen.oneOf(
        Gen.oneOf(0.0, -0.0, Double.NaN, java.lang.Double.longBitsToDouble(-1L), Double.NegativeInfinity),
        Gen.double
      )
      override def plain(value: Double): Array[Byte] = bytes(8)(_.putDouble(value))
      override def compare(one: Double, other: Double): Int = java.lang.Double.compare(one + 0.0, other + 0.0)
    },
    new Column[String]("optional binary a (STRING);") {
      override def values: Gen[String] = texts
      override def plain(value: String): Array[Byte] = text(value.getBytes(UTF_8))
      override def compare(one: String, other: String): Int =
        java.util.Arrays.compareUnsigned(one.getBytes(UTF_8), other.getBytes(UTF_8))
    },
    decimals("optional fixed_len_byte_array(16) a (DECIMAL(38, 2));", padded),
    decimals("optional binary a (DECIMAL(38, 2));", value => text(value.toByteArray)),
    new Column[Long]("optional int96 a;") {
      // Microseconds since Julian day 0.
      override def values: Gen[Long] = Gen.choose(0L, 1000000L * 86400000000L)
      override def plain(value: Long): Array[Byte] =
        bytes(12)(_.putLong(value % 86400000000L * 1000).putInt((value / 86400000000L).toInt))
      override def compare(one: Long, other: Long): Int = java.lang.Long.compare(one, other)
    }
  )
}
