package io.deltaupkeep.parquet.encoding

import java.io.ByteArrayOutputStream
import java.nio.ByteBuffer

import scala.util.Random

import io.deltaupkeep.parquet.bytes.MalformedPage

import net.jpountz.lz4.LZ4Factory
import org.apache.hadoop.conf.Configuration
import org.apache.parquet.bytes.BytesInput
import org.apache.parquet.hadoop.CodecFactory
import org.apache.parquet.hadoop.metadata.CompressionCodecName._
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class PageCodecSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  test("a page of another size than its head says is malformed, whatever the codec") {
    val bytes = Array.tabulate[Byte](100)(_.toByte)
    forAll(Table("codec", UNCOMPRESSED, SNAPPY, GZIP, ZSTD, LZ4)) { name =>
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

  /** A page that no codec makes much smaller. */
  private val large = {
    val random = new Random(1)
    Array.fill[Byte](1 << 20)(random.nextInt(100).toByte)
  }

  private def bytesOf(input: BytesInput): Array[Byte] = {
    val out = new ByteArrayOutputStream
    input.writeAllTo(out)
    out.toByteArray
  }

  private def numberAt(bytes: Array[Byte], at: Int): Int = ByteBuffer.wrap(bytes).getInt(at)

  test("each block of an LZ4 page has one chunk, so readers other than Hadoop's find its end") {
    val codec = new PageCodec(new Configuration(false))
    val page = codec.compress(LZ4, large, large.length)
    codec.close()
    val read = new ByteArrayOutputStream
    var at = 0
    while (at < page.length) {
      val block = new Array[Byte](numberAt(page, at))
      val compressed = numberAt(page, at + 4)
      val length =
        LZ4Factory.fastestInstance().safeDecompressor().decompress(page, at + 8, compressed, block, 0)
      assert(length == block.length)
      read.write(block)
      at += 8 + compressed
    }
    assert(read.toByteArray.sameElements(large))
    val factory = new CodecFactory(new Configuration(false), 1 << 16)
    val byHadoop = factory.getDecompressor(LZ4).decompress(BytesInput.from(page), large.length)
    assert(bytesOf(byHadoop).sameElements(large))
    factory.release()
  }

  test("an LZ4 page whose blocks have several chunks is read") {
    val factory = new CodecFactory(new Configuration(false), 1 << 16)
    val page = bytesOf(factory.getCompressor(LZ4).compress(BytesInput.from(large)))
    factory.release()
    assert(numberAt(page, 0) == large.length)
    val out = new Array[Byte](large.length)
    val codec = new PageCodec(new Configuration(false))
    codec.decompress(LZ4, page, 0, page.length, out, 0, out.length)
    codec.close()
    assert(out.sameElements(large))
  }

  test("a damaged page is malformed, whatever the codec") {
    val random = new Random(1)
    forAll(Table("codec", SNAPPY, GZIP, ZSTD, LZ4, LZ4_RAW)) { name =>
      val codec = new PageCodec(new Configuration(false))
      val page = codec.compress(name, large, 10000)
      val out = new Array[Byte](10000)
      var malformed = 0
      for (i <- 1 to 300) {
        val damaged = page.clone()
        // Lengths stand at the start.
        (0 to i % 3).foreach { _ =>
          damaged(random.nextInt(if (i % 2 == 0) 16 else page.length)) = random.nextInt().toByte
        }
        val length = if (i % 5 == 0) random.nextInt(page.length) else page.length
        try codec.decompress(name, damaged, 0, length, out, 0, out.length)
        catch { case _: MalformedPage => malformed += 1 }
      }
      assert(malformed > 60)
      codec.close()
    }
  }

  test("a page of no bytes is as each codec has it") {
    val sizes = Seq(LZ4_RAW -> 1, SNAPPY -> 1, UNCOMPRESSED -> 0)
    val codec = new PageCodec(new Configuration(false))
    for ((name, size) <- sizes) assert(codec.compress(name, Array.emptyByteArray, 0).length == size, name)
    codec.close()
  }

  test("gzip and Zstandard compress as their level says, and anyone reads the pages") {
    def sizeOf(compression: Compression): Int = {
      val conf = new Configuration(false)
      compression.hadoopSettings.foreach { case (key, value) => conf.set(key, value) }
      val codec = new PageCodec(conf)
      val page = codec.compress(compression.codec, text, text.length)
      codec.close()
      val factory = new CodecFactory(new Configuration(false), 1 << 16)
      val read = factory.getDecompressor(compression.codec).decompress(BytesInput.from(page), text.length)
      assert(bytesOf(read).sameElements(text))
      factory.release()
      page.length
    }
    forAll(Table("codec", GZIP, ZSTD)) { codec =>
      val levels = Compression.levelsOf(codec)
      val sizes = levels.map(level => sizeOf(Compression(codec, Some(level))))
      assert(sizes.last < sizes.head && sizes.distinct.size > levels.size / 2)
      assert(sizes.contains(sizeOf(Compression(codec))))
    }
    assert(Seq(SNAPPY, LZ4_RAW, UNCOMPRESSED).forall(Compression.levelsOf(_).isEmpty))
  }

  /** Words of Zipf's kind, so that levels differ. */
  private lazy val text: Array[Byte] = {
    val random = new Random(1)
    Iterator.continually(s"word${(1 / (random.nextDouble() + 1e-4)).toInt} ").take(50000).mkString.getBytes
  }
}
