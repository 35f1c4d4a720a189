package io.deltaupkeep.parquet.encoding

import java.io.ByteArrayInputStream

import scala.util.{Failure, Success, Try}

import io.deltaupkeep.parquet.bytes.{ByteSink, MalformedPage}

import org.apache.parquet.bytes.HeapByteBufferAllocator
import org.apache.parquet.column.values.rle.{
  RunLengthBitPackingHybridDecoder,
  RunLengthBitPackingHybridEncoder
}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Ours and parquet-java's coders understand each other. */
class RunLengthProperties extends AnyFunSuite with ScalaCheckPropertyChecks {

  /** Widths from 0 to 32 bits, and values with runs of every length. */
  private val numbers: Gen[(Int, Array[Int])] = for {
    width <- Gen.chooseNum(0, 32)
    value =
      if (width == 0) Gen.const(0) else Gen.chooseNum(Int.MinValue, Int.MaxValue).map(_ >>> (32 - width))
    runs <- Gen.listOf(Gen.zip(Gen.frequency(3 -> Gen.const(1), 1 -> Gen.chooseNum(1, 40)), value))
  } yield (width, runs.flatMap { case (length, v) => Seq.fill(length)(v) }.toArray)

  private def encoded(width: Int, values: Array[Int]): Array[Byte] = {
    val out = new ByteSink(1)
    RunLength.encode(values, values.length, width, out)
    out.toArray
  }

  test("parquet-java reads what we write") {
    forAll(numbers) { case (width, values) =>
      val bytes = encoded(width, values)
      val decoder = new RunLengthBitPackingHybridDecoder(width, new ByteArrayInputStream(bytes))
      assert(values.indices.map(_ => decoder.readInt()) == values.toSeq)
    }
  }

  test("we read what parquet-java writes") {
    forAll(numbers) { case (width, values) =>
      val encoder = new RunLengthBitPackingHybridEncoder(width, 64, 1 << 20, new HeapByteBufferAllocator)
      values.foreach(encoder.writeInt)
      val bytes = encoder.toBytes.toInputStream.readAllBytes()
      assert(decoded(width, bytes, values.length).toSeq == values.toSeq)
    }
  }

  test("we read what we write, wherever it lies in an array") {
    forAll(numbers, Gen.chooseNum(0, 9)) { case ((width, values), offset) =>
      val bytes = encoded(width, values)
      val shifted = new Array[Byte](offset) ++ bytes
      val out = new Array[Int](values.length)
      val run = RunLength.decode(shifted, offset, shifted.length, width, values.length, out)
      if (run != RunLength.Mixed) java.util.Arrays.fill(out, run)
      assert(out.toSeq == values.toSeq)
    }
  }

  test("what is cut off is an error, or only filled up a last group") {
    forAll(numbers, Gen.chooseNum(0d, 1d)) { case ((width, values), share) =>
      val bytes = encoded(width, values)
      val rest = bytes.take((bytes.length * share).toInt)
      Try(decoded(width, rest, values.length)) match {
        case Success(read) => assert(read.toSeq == values.toSeq)
        case Failure(e) => assert(e.isInstanceOf[MalformedPage], e)
      }
    }
  }

  test("a run of the number that stands for mixed values is of that number") {
    val run = Array[Byte](8, -1, -1, -1, -1)
    val out = Array.fill(4)(7)
    assert(RunLength.decode(run, 0, run.length, 32, 4, out) == RunLength.Mixed)
    assert(out.forall(_ == -1))
  }

  test("an empty run is an error, because readers do not agree on what follows it") {
    val run = Array[Byte](2 * 4, 1)
    Seq(Array[Byte](0, 1), Array[Byte](1)).foreach { empty =>
      val e = intercept[MalformedPage](decoded(2, run ++ empty ++ run, 8))
      assert(e.getMessage.contains("an empty run after 4 of 8 values"))
    }
  }

  private def decoded(width: Int, bytes: Array[Byte], count: Int): Array[Int] = {
    val out = new Array[Int](count)
    val run = RunLength.decode(bytes, 0, bytes.length, width, count, out)
    if (run != RunLength.Mixed) java.util.Arrays.fill(out, run)
    out
  }
}
