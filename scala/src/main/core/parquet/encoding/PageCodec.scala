package io.deltaupkeep.parquet.encoding

import java.io.{ByteArrayOutputStream, IOException}
import java.util.zip.{Deflater, GZIPOutputStream}

import io.deltaupkeep.parquet.bytes.{MalformedPage, MissingCodec}

import com.github.luben.zstd.{Zstd, ZstdCompressCtx, ZstdException}
import org.apache.parquet.bytes.BytesInput
import org.apache.parquet.compression.CompressionCodecFactory
import org.apache.parquet.hadoop.{BadConfigurationException, CodecFactory}
import org.apache.parquet.hadoop.codec.ZstandardCodec
import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.xerial.snappy.Snappy

import org.apache.hadoop.conf.Configuration

/**
 * Compresses and decompresses pages from array to array. Snappy and Zstandard call their libraries directly, and so do
 * gzip compression and LZ4 decompression; all else goes through parquet-java's streams. Not thread-safe.
 */
private[parquet] final class PageCodec(conf: Configuration) extends AutoCloseable {

  private lazy val factory = new CodecFactory(conf, PageCodec.InitialBuffer)

  private lazy val zstd = {
    val level = conf.getInt(
      ZstandardCodec.PARQUET_COMPRESS_ZSTD_LEVEL,
      ZstandardCodec.DEFAULT_PARQUET_COMPRESS_ZSTD_LEVEL
    )
    new ZstdCompressCtx().setLevel(level)
  }
  private lazy val gzipLevel = Compression.gzipLevel(conf).getOrElse(Deflater.DEFAULT_COMPRESSION)
  private var zstdUsed = false
  private var factoryUsed = false
  private var compressed = new Array[Byte](PageCodec.InitialBuffer)

  /**
   * Decompresses `count` bytes of `in` to `size` bytes of `out`.
   *
   * @throws io.deltaupkeep.parquet.bytes.MalformedPage if they hold something else
   * @throws io.deltaupkeep.parquet.bytes.MissingCodec if no library here decompresses them
   */
  def decompress(
      codec: CompressionCodecName,
      in: Array[Byte],
      from: Int,
      count: Int,
      out: Array[Byte],
      outFrom: Int,
      size: Int
  ): Unit =
    try codec match {
        case _ if size == 0 => ()
        case CompressionCodecName.UNCOMPRESSED =>
          requireSize(count.toLong, size)
          System.arraycopy(in, from, out, outFrom, size)
        case CompressionCodecName.SNAPPY =>
          // Snappy writes as many bytes as the data claims, so the header is checked first.
          requireSize(Snappy.uncompressedLength(in, from, count).toLong, size)
          Snappy.uncompress(in, from, count, out, outFrom)
          ()
        case CompressionCodecName.ZSTD =>
          requireSize(Zstd.decompressByteArray(out, outFrom, size, in, from, count), size)
        case CompressionCodecName.LZ4 => Lz4Blocks.decompress(in, from, count, out, outFrom, size)
        case other =>
          factoryUsed = true
          val decompressor = factory.getDecompressor(other)
          requireSize(read(decompressor, BytesInput.from(in, from, count), out, outFrom, size), size)
      }
    catch {
      case _: BadConfigurationException => throw new MissingCodec(codec.name)
      case e @ (_: IOException | _: ZstdException) => throw new MalformedPage(String.valueOf(e.getMessage))
    }

  /** Only library code runs here, and each library throws its own exceptions for damaged bytes. */
  private def read(
      decompressor: CompressionCodecFactory.BytesInputDecompressor,
      page: BytesInput,
      out: Array[Byte],
      outFrom: Int,
      size: Int
  ): Long =
    try decompressor.decompress(page, size).toInputStream.readNBytes(out, outFrom, size).toLong
    catch {
      case e @ (_: RuntimeException | _: InternalError) => throw new MalformedPage(String.valueOf(e))
    }

  private def requireSize(actual: Long, size: Int): Unit =
    if (actual != size) throw new MalformedPage(s"$actual bytes where the header says $size")

  /** The compressed bytes, in a new array. */
  def compress(codec: CompressionCodecName, in: Array[Byte], count: Int): Array[Byte] = codec match {
    case CompressionCodecName.UNCOMPRESSED => java.util.Arrays.copyOf(in, count)
    case CompressionCodecName.SNAPPY =>
      ensure(Snappy.maxCompressedLength(count))
      val length = Snappy.compress(in, 0, count, compressed, 0)
      java.util.Arrays.copyOf(compressed, length)
    case CompressionCodecName.ZSTD =>
      zstdUsed = true
      ensure(Math.toIntExact(Zstd.compressBound(count.toLong)))
      val length = zstd.compressByteArray(compressed, 0, compressed.length, in, 0, count)
      java.util.Arrays.copyOf(compressed, length)
    // A block of no bytes is a token. parquet-java writes nothing, which other readers refuse.
    case CompressionCodecName.LZ4_RAW if count == 0 => Array[Byte](0)
    case CompressionCodecName.GZIP =>
      // Hadoop's compressors are pooled, and keep the level that they were made with.
      val out = new ByteArrayOutputStream(count / 2 + 1)
      val stream = new GZIPOutputStream(out) { `def`.setLevel(gzipLevel) }
      stream.write(in, 0, count)
      stream.close()
      out.toByteArray
    case other =>
      factoryUsed = true
      val out = new ByteArrayOutputStream(count / 2 + 1)
      val page =
        if (other == CompressionCodecName.LZ4) Lz4Blocks.slices(in, count) else BytesInput.from(in, 0, count)
      factory.getCompressor(other).compress(page).writeAllTo(out)
      out.toByteArray
  }

  private def ensure(length: Int): Unit =
    if (compressed.length < length) compressed = new Array[Byte](length)

  override def close(): Unit = {
    if (zstdUsed) zstd.close()
    if (factoryUsed) factory.release()
  }
}

private object PageCodec {
  private val InitialBuffer = 1 << 16
}
