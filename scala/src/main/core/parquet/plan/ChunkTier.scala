package io.deltaupkeep.parquet.plan

/** How the bytes of an input's column chunks were written. */
sealed trait ChunkTier {
  def name: String
}

object ChunkTier {

  /** As bytes. */
  case object Copy extends ChunkTier { override val name: String = "copy" }

  /** Page by page, values untouched. */
  case object Splice extends ChunkTier { override val name: String = "splice" }

  /** Value by value: other encodings than PLAIN and dictionary, or another stored type. */
  case object Transcode extends ChunkTier { override val name: String = "transcode" }
}
