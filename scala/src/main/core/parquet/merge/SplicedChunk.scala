package io.deltaupkeep.parquet.merge

import scala.language.existentials

import io.deltaupkeep.parquet.bytes.{ParquetApi, Slice}
import io.deltaupkeep.parquet.footer.ChunkFacts

import org.apache.parquet.bytes.BytesInput
import org.apache.parquet.column.{ColumnDescriptor, Encoding}
import org.apache.parquet.column.page.DictionaryPage
import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.column.values.bloomfilter.BloomFilter
import org.apache.parquet.hadoop.ParquetFileWriter
import org.apache.parquet.hadoop.metadata.CompressionCodecName

/** A data page ready to be written; `size` bytes from `bytes` on are its compressed form. */
private[parquet] final case class SplicedPage(
    values: Int,
    rows: Int,
    uncompressedSize: Int,
    bytes: Slice,
    size: Int,
    statistics: Statistics[_ <: Comparable[_]],
    encoding: Encoding
)

private[parquet] object SplicedPage {

  /** Approximate memory of a page besides its bytes. */
  val OverheadBytes: Int = 512
}

/** A column chunk that was made of others. */
private[parquet] final case class SplicedChunk(
    column: ColumnDescriptor,
    codec: CompressionCodecName,
    dictionary: Option[DictionaryPage],
    pages: Seq[SplicedPage],
    bloomFilter: Option[BloomFilter],
    facts: ChunkFacts = ChunkFacts.none
) extends ReadyChunk {

  // How the Scala 2.13.8 compiler sees parquet-java's signature.
  private type AnyStatistics = Statistics[T] forSome { type T <: Comparable[T] }

  override def knownFacts: Option[ChunkFacts] = Some(facts)

  override def write(to: ParquetFileWriter): Unit = {
    to.startColumn(column, pages.iterator.map(_.values.toLong).sum, codec)
    dictionary.foreach(to.writeDictionaryPage)
    pages.foreach { page =>
      to.writeDataPage(
        page.values,
        page.uncompressedSize,
        BytesInput.from(page.bytes.array, page.bytes.from, page.size),
        page.statistics.asInstanceOf[AnyStatistics],
        page.rows.toLong,
        Encoding.RLE,
        Encoding.RLE,
        page.encoding
      )
    }
    bloomFilter.foreach(ParquetApi.addBloomFilter(to, column.getPath.mkString("."), _))
    to.endColumn()
  }
}
