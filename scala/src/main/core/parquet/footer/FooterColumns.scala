package io.deltaupkeep.parquet.footer

import scala.jdk.CollectionConverters._

import org.apache.parquet.schema.PrimitiveType

/** What a footer says of the columns of its file, as far as one can rely on the writer. */
final case class FooterColumns(rows: Long, leaves: Seq[FooterLeaf])

/**
 * A leaf column over all row groups.
 *
 * @param path       as the file spells it
 * @param isRepeated whether it is in a list or a map
 * @param values     nulls included
 * @param nulls      none if the footer does not have it, or if the writer may count it in another way
 * @param bounds     none if the footer has none, or may have left out values
 */
final case class FooterLeaf(
    path: Seq[String],
    primitive: PrimitiveType,
    isRepeated: Boolean,
    values: Long,
    nulls: Option[Long],
    bounds: Option[LeafBounds]
)

private[parquet] object FooterColumns {

  def of(file: OpenFile): FooterColumns = {
    val blocks = file.metadata.getBlocks.asScala.toSeq.filter(_.getRowCount > 0)
    val leaves = file.schema.getColumns.asScala.toSeq.zipWithIndex.map { case (column, i) =>
      // Chunks are in the order of the schema, as the opener has checked.
      val chunks = blocks.map(_.getColumns.get(i))
      val primitive = column.getPrimitiveType
      val path = column.getPath.toSeq
      // Other writers may not count nulls of a struct around the column.
      val isCounted = path.size == 1 || file.writtenBy.countsNullParents
      FooterLeaf(
        path,
        primitive,
        column.getMaxRepetitionLevel > 0,
        chunks.map(_.getValueCount).sum,
        Option.when(isCounted && chunks.forall(_.getStatistics.isNumNullsSet)) {
          chunks.map(_.getStatistics.getNumNulls).sum
        },
        if (file.writtenBy.boundsAll(primitive))
          LeafBounds.of(primitive, chunks.map(chunk => chunk.getStatistics -> chunk.getValueCount))
        else None
      )
    }
    FooterColumns(blocks.map(_.getRowCount).sum, leaves)
  }
}
