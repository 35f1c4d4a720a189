package io.deltaupkeep.parquet.footer

/**
 * What the statistics of a log ask for and those of Parquet do not have, of the rows of one column.
 *
 * @param nullCollections null lists or maps, of a column within one
 * @param instants        the earliest and the latest INT96 timestamp, in microseconds since the epoch
 */
final case class ChunkFacts(nullCollections: Long, instants: Option[(Long, Long)]) {

  def +(other: ChunkFacts): ChunkFacts = {
    val each = instants ++ other.instants
    ChunkFacts(
      nullCollections + other.nullCollections,
      Option.when(each.nonEmpty)((each.map(_._1).min, each.map(_._2).max))
    )
  }
}

object ChunkFacts {
  private[parquet] val none: ChunkFacts = ChunkFacts(0, None)
}
