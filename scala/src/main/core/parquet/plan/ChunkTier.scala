package io.deltaupkeep.parquet.plan

/**
 * How the bytes of an input's column chunks were written.
 *
 * @param rank the most expensive tier has the highest
 */
sealed abstract class ChunkTier(val name: String, val rank: Int) extends Serializable

object ChunkTier {

  /** As bytes. */
  case object Copy extends ChunkTier("copy", 0)

  /** Page by page, with another codec. Pages hold what they held. */
  case object Recompress extends ChunkTier("recompress", 1)

  /** Page by page, values untouched. */
  case object Splice extends ChunkTier("splice", 2)

  /** Value by value: other encodings than PLAIN and dictionary, or another stored type. */
  case object Transcode extends ChunkTier("transcode", 3)

  /** Rows in another order. */
  case object Gather extends ChunkTier("gather", 4)
}
