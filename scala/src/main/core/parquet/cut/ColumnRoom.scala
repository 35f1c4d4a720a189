package io.deltaupkeep.parquet.cut

import io.deltaupkeep.parquet.chunk.ScratchShare

/**
 * The memory of a column in work: of its values, and of the buffers with which they are read and encoded. They take it
 * from one share, because a worker with two could wait for itself.
 */
private[cut] final class ColumnRoom(share: ScratchShare) {
  private var ofValues = 0L
  private var ofBuffers = 0L

  /** Grows what the values take. May wait for the memory. */
  def growTo(bytes: Long): Unit = if (bytes > ofValues) {
    ofValues = bytes
    share.growTo(ofValues + ofBuffers)
  }

  /** The share of the buffers. Whoever has the whole share closes it. */
  val buffers: ScratchShare = new ScratchShare {
    override def growTo(bytes: Long): Unit = if (bytes > ofBuffers) {
      ofBuffers = bytes
      share.growTo(ofValues + ofBuffers)
    }
    override def close(): Unit = ()
  }
}

private[cut] object ColumnRoom {

  /** For a worker that is alone. */
  def unlimited: ColumnRoom = new ColumnRoom(ScratchShare.Unlimited)
}
