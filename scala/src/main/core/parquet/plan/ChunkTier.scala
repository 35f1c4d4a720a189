package io.deltaupkeep.parquet.plan

/** How the bytes of an input's column chunks were written. */
sealed trait ChunkTier {
  def name: String

  /** The most expensive tier has the highest. */
  def rank: Int
}

object ChunkTier {

  /** As bytes. */
  case object Copy extends ChunkTier {
    override val name: String = "copy"
    override val rank: Int = 0
  }

  /** Page by page, with another codec. Pages hold what they held. */
  case object Recompress extends ChunkTier {
    override val name: String = "recompress"
    override val rank: Int = 1
  }

  /** Page by page, values untouched. */
  case object Splice extends ChunkTier {
    override val name: String = "splice"
    override val rank: Int = 2
  }

  /** Value by value: other encodings than PLAIN and dictionary, or another stored type. */
  case object Transcode extends ChunkTier {
    override val name: String = "transcode"
    override val rank: Int = 3
  }
}
