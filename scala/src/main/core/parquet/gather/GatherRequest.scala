package io.deltaupkeep.parquet.gather

import io.deltaupkeep.parquet.cut.KeyOrder
import io.deltaupkeep.parquet.footer.LeafTotals

import org.apache.parquet.hadoop.metadata.ParquetMetadata

/**
 * The order of rows in new files.
 *
 * @param keys    leaf columns outside lists, by the parts of their names in the files
 * @param outputs number of new files; there are fewer if there are fewer rows
 */
final case class GatherOrder(keys: Seq[Seq[String]], order: KeyOrder, outputs: Int)

/**
 * A new file.
 *
 * @param index  of the file
 * @param footer as it was written
 * @param leaves totals of its columns by path
 * @param sample where some of its rows come from
 */
final case class GatheredFile(
    index: Int,
    rows: Long,
    footer: ParquetMetadata,
    leaves: Map[Seq[String], LeafTotals],
    sample: Seq[SampledRow]
)

/**
 * Where a row came from and went to.
 *
 * @param input position of the input
 * @param row   its position in the input
 * @param at    its position in the new file
 */
final case class SampledRow(input: Int, row: Long, at: Long)
