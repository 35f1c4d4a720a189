package io.deltaupkeep.parquet.encoding

import java.io.ByteArrayInputStream

import scala.util.{Failure, Success, Try}

import io.deltaupkeep.parquet.DrawnValues
import io.deltaupkeep.parquet.bytes.{ByteSink, MalformedPage}

import org.apache.parquet.bytes.{BytesUtils, HeapByteBufferAllocator}
import org.apache.parquet.column.values.rle.{
  RunLengthBitPackingHybridDecoder,
  RunLengthBitPackingHybridEncoder
}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

/** Levels are what parquet-java's coders make of them, and what was added. */
class LevelBufferSuite extends AnyFunSuite with DrawnValues {

  /** A greatest level, and runs of levels up to it. */
  private val pages: Gen[(Int, Seq[(Int, Int)])] = for {
    max <- Gen.frequency(1 -> Gen.const(0), 4 -> Gen.choose(1, 4), 1 -> Gen.choose(5, 300))
    runs <- Gen.listOf(Gen.zip(Gen.choose(0, max), Gen.frequency(3 -> Gen.const(1), 1 -> Gen.choose(0, 40))))
  } yield (max, runs)

  /** How each run is added; there are no more than 50. */
  private val ways = Gen.listOfN(50, Gen.choose(0, 2))

  private def flat(runs: Seq[(Int, Int)]): Seq[Int] = runs.flatMap { case (level, n) => Seq.fill(n)(level) }

  private def widthOf(max: Int): Int = BytesUtils.getWidthFromMaxInt(max)

  private def encodedByJava(max: Int, levels: Seq[Int]): Array[Byte] = {
    val encoder =
      new RunLengthBitPackingHybridEncoder(widthOf(max), 64, 1 << 20, new HeapByteBufferAllocator)
    levels.foreach(encoder.writeInt)
    encoder.toBytes.toInputStream.readAllBytes()
  }

  private def decodedByJava(max: Int, bytes: Array[Byte], count: Int): Seq[Int] = {
    val decoder = new RunLengthBitPackingHybridDecoder(widthOf(max), new ByteArrayInputStream(bytes))
    Vector.fill(count)(if (max == 0) 0 else decoder.readInt())
  }

  private def levelsOf(buffer: LevelBuffer): Seq[Int] = (0 until buffer.size).map(buffer(_))

  test("one buffer reads page after page as parquet-java wrote them") {
    forDrawn(Gen.nonEmptyListOf(pages)) { drawn =>
      val buffer = new LevelBuffer
      drawn.foreach { case (max, runs) =>
        val levels = flat(runs)
        val bytes = Array.fill[Byte](3)(-1) ++ encodedByJava(max, levels) ++ Array.fill[Byte](3)(-1)
        buffer.decode(bytes, 3, bytes.length - 3, max, levels.size)
        assert(levelsOf(buffer) == levels)
      }
    }
  }

  test("parquet-java reads what was added, in whichever way, and then encoded") {
    forDrawn(Gen.zip(pages, ways)) { case ((max, runs), ways) =>
      val buffer = filled(runs, ways)
      assert(levelsOf(buffer) == flat(runs))
      val out = new ByteSink(1)
      buffer.encode(max, out)
      assert(decodedByJava(max, out.toArray, buffer.size) == flat(runs))
    }
  }

  /** Adds level by level, run by run, or of another buffer. */
  private def filled(runs: Seq[(Int, Int)], ways: Seq[Int]): LevelBuffer = {
    val buffer = new LevelBuffer
    runs.zip(ways).foreach { case ((level, n), way) =>
      way match {
        case 0 => (0 until n).foreach(_ => buffer.add(level))
        case 1 => buffer.add(level, n)
        case _ =>
          val other = new LevelBuffer
          // Others around it make the levels of the other buffer differ.
          other.add(level + n % 2)
          other.add(level, n)
          other.add(level)
          buffer.add(other, 1, 1 + n)
      }
    }
    buffer
  }

  test("what is told of levels is what they are") {
    val parts = Gen.zip(Gen.choose(0d, 1d), Gen.choose(0d, 1d))
    forDrawn(Gen.zip(pages, ways, parts)) {
      case ((max, runs), ways, (one, other)) =>
        val levels = flat(runs)
        val buffer = filled(runs, ways)
        assert(buffer.size == levels.size)
        val places = Seq(one, other).map(share => (share * levels.size).toInt).sorted
        (0 to max).foreach { level =>
          val part = levels.slice(places.head, places.last)
          assert(buffer.occurrences(level, places.head, places.last) == part.count(_ == level))
          if (levels.nonEmpty && buffer.isAll(level)) assert(levels.forall(_ == level))
          if (!buffer.isMixed && levels.nonEmpty) assert(buffer.isAll(level) == (levels.head == level))
        }
        if (levels.distinct.size > 1) {
          assert(buffer.isMixed && buffer.array.take(levels.size).toSeq == levels)
          assert(buffer.stored == levels.size)
          assert(buffer.packedBytes(max) == levels.size.toLong * widthOf(max) / 8)
        } else if (!buffer.isMixed) assert((buffer.stored, buffer.packedBytes(max)) == ((0, 0L)))
        buffer.clear()
        assert((buffer.size, buffer.isMixed, buffer.stored) == ((0, false, 0)))
        buffer.add(max, 3)
        assert(levelsOf(buffer) == Seq(max, max, max) && buffer.isAll(max))
    }
  }

  test("what is cut off is refused, or was not needed") {
    forDrawn(pages) { case (max, runs) =>
      val levels = flat(runs)
      val bytes = encodedByJava(max, levels)
      bytes.indices.foreach { end =>
        val buffer = new LevelBuffer
        Try(buffer.decode(bytes, 0, end, max, levels.size)) match {
          case Success(_) => assert(levelsOf(buffer) == levels)
          case Failure(e) => assert(e.isInstanceOf[MalformedPage], e)
        }
      }
    }
  }

  /** Pages as the format allows them, though parquet-java writes them otherwise. */
  private val stored = Seq(
    (0, Seq(), Seq.fill(5)(0)),
    (1, Seq(5 << 1, 1), Seq.fill(5)(1)),
    // A run and a group that go on after the page.
    (1, Seq(0xd0, 0x0f, 1), Seq.fill(5)(1)),
    (1, Seq(3, 0x35), Seq(1, 0, 1)),
    // Runs of one level, and of the same level as the run before.
    (3, Seq(1 << 1, 2, 1 << 1, 2, 1 << 1, 3), Seq(2, 2, 3)),
    // A run after a group, and a group after a run.
    (3, Seq(3, 0xe4, 0x1b, 2 << 1, 1), Seq(0, 1, 2, 3, 3, 2, 1, 0, 1, 1)),
    (3, Seq(2 << 1, 1, 3, 0xe4, 0x1b), Seq(1, 1, 0, 1, 2, 3, 3, 2, 1, 0)),
    // Levels of two bytes.
    (300, Seq(2 << 1, 0x2c, 0x01), Seq(300, 300)),
    (1, Seq(), Seq())
  )

  test("runs and groups of any length") {
    forRows(stored) { case (max, numbers, levels) =>
      val bytes = numbers.map(_.toByte).toArray
      assert(decodedByJava(max, bytes, levels.size) == levels)
      val buffer = new LevelBuffer
      buffer.add(7, 3)
      buffer.add(1, 1)
      buffer.decode(bytes, 0, bytes.length, max, levels.size)
      assert(levelsOf(buffer) == levels)
    }
  }

  test("a level above the greatest is refused, in runs and in groups") {
    forRows(Seq(
      (2, Seq(4 << 1, 3), 4),
      (2, Seq(3, 0xe4, 0x1b), 8),
      (2, Seq(2 << 1, 1, 1 << 1, 3), 3),
      (1, Seq(2 << 1, 0xff), 2),
      (300, Seq(2 << 1, 0x2d, 0x01), 2)
    )) { case (max, numbers, levels) =>
      val bytes = numbers.map(_.toByte).toArray
      assert(decodedByJava(max, bytes, levels).max > max)
      val refused = intercept[MalformedPage](new LevelBuffer().decode(bytes, 0, bytes.length, max, levels))
      assert(refused.getMessage.endsWith(s"where the greatest is $max"))
    }
  }
}
