package io.deltaupkeep.parquet.file

import io.deltaupkeep.parquet.page.PageLayout

import org.apache.parquet.hadoop.metadata.CompressionCodecName

/**
 * How files are spliced.
 *
 * @param rowGroupBytes    uncompressed size that row groups of the output aim at (`parquet.block.size`)
 * @param copyFromBytes    a row group of at least this uncompressed size is copied as it is
 * @param bytesInFlight    bytes of input files that a bin holds at a time, at most; input row groups that are merged
 *                         are at most half of it, so the memory of a bin is about twice this number
 * @param heldFileBytes    a file up to this size is fetched in one request and held; of a larger one, ranges
 * @param fetches          files that are fetched at the same time
 * @param threads          that splice the columns of a bin side by side
 * @param codec            of new pages
 * @param layout           of new pages
 * @param bloomFilterBytes of a Bloom filter, at most
 * @param maxPadding       bytes that may align a row group to a block of the file system
 * @param matchById        whether the table maps columns by field id, not by name
 * @param shiftsForeignInt96 whether readers shift the INT96 timestamps of files that parquet-java did not write
 */
final case class SpliceSettings(
    rowGroupBytes: Long,
    copyFromBytes: Long,
    bytesInFlight: Long,
    heldFileBytes: Long,
    fetches: Int,
    threads: Int,
    codec: CompressionCodecName,
    layout: PageLayout,
    bloomFilterBytes: Int,
    maxPadding: Int,
    matchById: Boolean,
    shiftsForeignInt96: Boolean
) {

  /** Compressed bytes that the pages of a row group of the output take, at most, until it is written. */
  def heldRowGroupBytes: Long = bytesInFlight

  /** Memory that a page takes, at most, decompressed and with its levels: more than any usual one. */
  def heldPageBytes: Long = math.max(bytesInFlight / 2, 8L * layout.pageBytes)
}
