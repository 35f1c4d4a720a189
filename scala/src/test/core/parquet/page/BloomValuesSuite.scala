package io.deltaupkeep.parquet.page

import java.io.ByteArrayOutputStream

import io.deltaupkeep.parquet.bytes.ByteSink
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

import org.apache.parquet.column.values.bloomfilter.{BlockSplitBloomFilter, BloomFilter}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.INT64
import org.apache.parquet.schema.Types

class BloomValuesSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private def bytesOf(filter: BloomFilter): Seq[Byte] = {
    val out = new ByteArrayOutputStream
    filter.writeTo(out)
    out.toByteArray.toSeq
  }

  test("a filter is that of the distinct values, however many there are") {
    val cases = Table(
      ("values", "distinct", "bytes at most"),
      (0, 1, 1 << 10),
      (100, 7, 1 << 10),
      (5000, 20, 1 << 10),
      (5000, 700, 1 << 10),
      (20000, 5000, 1 << 10),
      (20000, 20000, 1 << 20),
      (20000, 20000, 1000)
    )
    forAll(cases) { (values, distinct, maxBytes) =>
      val collected = new BloomValues(Types.optional(INT64).named("x"), maxBytes)
      val plain = new ByteSink()
      (0 until values).foreach(i => plain.putLong((i * 31L) % distinct))
      collected.addPlain(plain.array, plain.length)
      val seen = (0 until values).map(i => (i * 31L) % distinct).distinct
      val bits = BlockSplitBloomFilter.optimalNumOfBits(
        math.max(1, seen.size).toLong,
        BlockSplitBloomFilter.DEFAULT_FPP
      )
      val filter = new BlockSplitBloomFilter(math.min(bits / 8, maxBytes), maxBytes)
      seen.foreach(value => filter.insertHash(filter.hash(value)))
      assert(bytesOf(collected.result()) == bytesOf(filter))
    }
  }
}
