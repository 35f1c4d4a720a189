package io.deltaupkeep.parquet.page

import io.deltaupkeep.parquet.bytes.MalformedPage
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.hadoop.metadata.CompressionCodecName._

class PageCodecSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  test("a page of another size than its head says is malformed, whatever the codec") {
    val bytes = Array.tabulate[Byte](100)(_.toByte)
    forAll(Table("codec", UNCOMPRESSED, SNAPPY, GZIP, ZSTD)) { name =>
      val codec = new PageCodec(new Configuration(false))
      val page = codec.compress(name, bytes, bytes.length)
      def decompressed(size: Int): Array[Byte] = {
        val out = new Array[Byte](size)
        codec.decompress(name, page, 0, page.length, out, 0, size)
        out
      }
      assert(decompressed(100).sameElements(bytes))
      assertThrows[MalformedPage](decompressed(101))
      if (name != GZIP) assertThrows[MalformedPage](decompressed(99))
      codec.close()
    }
  }
}
