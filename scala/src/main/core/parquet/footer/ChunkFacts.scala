package io.deltaupkeep.parquet.footer

/**
 * What the log's statistics of a column need and Parquet's do not have.
 *
 * @param nullCollections null lists or maps, for a column within one
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
