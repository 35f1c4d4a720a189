package io.deltaupkeep.parquet.plan

import io.deltaupkeep.parquet.page.PageLayout

import org.apache.parquet.hadoop.metadata.CompressionCodecName

/** The name of a top-level column of the table, not of a nested field. */
final case class ColumnName(text: String)

/**
 * How readers see fields that a file lacks. A splice makes them null.
 *
 * @param defaults    columns for which readers supply another value; they never do for a field of a struct
 * @param nullStructs whether readers treat a struct as null if the file has none of its fields
 */
final case class LackingFields(defaults: Set[ColumnName] = Set.empty, nullStructs: Boolean = false)

/**
 * How files are spliced.
 *
 * @param rowGroupBytes    target uncompressed size of row groups of the output (`parquet.block.size`)
 * @param copyFromBytes    a row group of at least this uncompressed size is copied as it is
 * @param bytesInFlight    largest number of bytes of input files, with their footers, that a bin holds at a time. Input
 *                         row groups that are merged take at most half of it, and so do the buffers of all threads,
 *                         so a bin takes about two and a half times this much memory
 * @param gatherBytes      bytes of the input files of a bin whose rows are put in another order. It takes about three
 *                         times this much memory: for the files, for the columns in work, and for the new pages
 * @param heldFileBytes    a file up to this size is fetched in one request and held; a larger one is read in
 *                         ranges
 * @param fetches          files that are fetched at the same time
 * @param threads          number of threads that splice the columns of a bin
 * @param codec            of new pages
 * @param recompresses     whether pages of another codec are compressed again where they could be copied
 * @param layout           of new pages
 * @param bloomFilterBytes largest size of a Bloom filter
 * @param maxPadding       largest padding in bytes that aligns a row group to a block of the file system
 * @param matchById        whether the table maps columns by field id, not by name
 * @param keepsForms       whether timestamps, decimals and variants are stored as in the first input; if not, as the
 *                         table's own writer stores them
 * @param shiftsForeignInt96 whether readers shift the INT96 timestamps of files that parquet-java did not
 *                           write
 * @param lacking          how readers see what a file lacks
 */
final case class SpliceSettings(
    rowGroupBytes: Long,
    copyFromBytes: Long,
    bytesInFlight: Long,
    gatherBytes: Long,
    heldFileBytes: Long,
    fetches: Int,
    threads: Int,
    codec: CompressionCodecName,
    layout: PageLayout,
    bloomFilterBytes: Int,
    maxPadding: Int,
    matchById: Boolean,
    keepsForms: Boolean,
    shiftsForeignInt96: Boolean,
    lacking: LackingFields = LackingFields(),
    recompresses: Boolean = false
) {

  /** Largest number of compressed bytes that the pages of an output row group take until it is written. */
  def heldRowGroupBytes: Long = bytesInFlight

  /** Largest memory of a page, decompressed and with its levels: more than any usual page. */
  def heldPageBytes: Long = math.max(bytesInFlight / 2, 8L * layout.pageBytes)

  /** Largest memory of the buffers of all threads together. A thread that is alone may need more. */
  def heldScratchBytes: Long = heldPageBytes
}
