package io.deltaupkeep.parquet

import java.io.ByteArrayInputStream
import java.nio.file.{Files, Path}
import java.util.zip.CRC32

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.bytes.BytesInput
import org.apache.parquet.format.{ColumnMetaData, PageHeader, Util}
import org.apache.parquet.hadoop.CodecFactory
import org.apache.parquet.hadoop.metadata.CompressionCodecName

/**
 * A page as parquet-java reads it, without our engine.
 *
 * @param offset  of its header in the file
 * @param size    with its header
 * @param content levels and values, uncompressed
 */
final case class StoredPage(offset: Long, size: Int, header: PageHeader, content: Seq[Byte], crc: Int) {

  /** What must be the same whatever the codec: the header without sizes and checksum. */
  def meaning: (PageHeader, Seq[Byte]) = {
    val same = header.deepCopy()
    same.setCompressed_page_size(0)
    same.setCrc(0)
    if (same.isSetData_page_header_v2) same.getData_page_header_v2.setIs_compressed(true)
    (same, content)
  }
}

object StoredPages {

  /** By row group and column. */
  def of(file: Path): Seq[Seq[Seq[StoredPage]]] = {
    val bytes = Files.readAllBytes(file)
    val factory = new CodecFactory(new Configuration(false), 1 << 16)
    try Footers.read(file).getRow_groups.asScala.toVector.map { group =>
        group.getColumns.asScala.toVector.map(chunk => pagesOf(bytes, chunk.getMeta_data, factory))
      }
    finally factory.release()
  }

  private def pagesOf(bytes: Array[Byte], chunk: ColumnMetaData, factory: CodecFactory): Seq[StoredPage] = {
    val start =
      if (chunk.isSetDictionary_page_offset)
        math.min(chunk.getDictionary_page_offset, chunk.getData_page_offset)
      else chunk.getData_page_offset
    val codec = CompressionCodecName.fromParquet(chunk.getCodec)
    val end = start + chunk.getTotal_compressed_size
    Iterator
      .unfold(start) { at =>
        Option.when(at < end) {
          val page = pageAt(bytes, at.toInt, codec, factory)
          (page, at + page.size)
        }
      }
      .toVector
  }

  private def pageAt(
      bytes: Array[Byte],
      at: Int,
      codec: CompressionCodecName,
      factory: CodecFactory
  ): StoredPage = {
    val in = new ByteArrayInputStream(bytes, at, bytes.length - at)
    val header = Util.readPageHeader(in)
    val stored = in.readNBytes(header.getCompressed_page_size)
    val crc = new CRC32
    crc.update(stored)
    val levels = Option(header.getData_page_header_v2).fold(0) { v2 =>
      v2.getRepetition_levels_byte_length + v2.getDefinition_levels_byte_length
    }
    val isCompressed = codec != CompressionCodecName.UNCOMPRESSED &&
      Option(header.getData_page_header_v2).forall(_.isIs_compressed)
    val (before, rest) = stored.splitAt(levels)
    val size = header.getUncompressed_page_size - levels
    val content =
      if (!isCompressed) rest
      else factory.getDecompressor(codec).decompress(BytesInput.from(rest), size).toInputStream.readAllBytes()
    assert(content.length == size)
    StoredPage(
      at.toLong,
      bytes.length - at - in.available(),
      header,
      (before ++ content).toVector,
      crc.getValue.toInt
    )
  }
}
