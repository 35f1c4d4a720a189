package io.deltaupkeep.parquet.chunk

/**
 * Divides memory among workers. A worker whose buffers have to grow beyond what is left waits until others end. If all
 * of them wait, one continues beyond the limit. So together they take at most the limit plus one worker's memory.
 *
 * @param limit in bytes
 */
private[parquet] final class ScratchMemory(limit: Long) {
  private var taken = 0L
  private var working = 0
  private var waiting = 0

  /** The share of a new worker. It has to be closed. */
  def share(): ScratchShare = synchronized {
    working += 1
    new Share
  }

  private final class Share extends ScratchShare {
    private var own = 0L

    override def growTo(bytes: Long): Unit = if (bytes > own) {
      take(bytes - own)
      own = bytes
    }

    override def close(): Unit = {
      end(own)
      own = 0
    }
  }

  private def take(bytes: Long): Unit = synchronized {
    waiting += 1
    try while (taken + bytes > limit && waiting < working) wait()
    finally waiting -= 1
    taken += bytes
  }

  private def end(bytes: Long): Unit = synchronized {
    taken -= bytes
    working -= 1
    notifyAll()
  }
}

/** The memory of one worker. Not thread-safe. */
private[parquet] trait ScratchShare extends AutoCloseable {

  /** Grows the share to `bytes`. May wait for the memory. */
  def growTo(bytes: Long): Unit
}

private[parquet] object ScratchShare {

  /** For a worker that is alone. */
  object Unlimited extends ScratchShare {
    override def growTo(bytes: Long): Unit = ()
    override def close(): Unit = ()
  }
}
