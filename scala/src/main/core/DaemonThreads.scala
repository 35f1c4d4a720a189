package io.deltaupkeep

import java.util.concurrent.{ExecutorService, ThreadFactory, TimeUnit}

/** Threads that do not keep a JVM alive. */
private[deltaupkeep] object DaemonThreads {

  /** Interrupts the work of a pool and waits up to a minute for it to end. */
  def stop(pool: ExecutorService): Unit = {
    pool.shutdownNow()
    try { pool.awaitTermination(1, TimeUnit.MINUTES); () }
    catch { case _: InterruptedException => Thread.currentThread.interrupt() }
  }

  def apply(name: String): ThreadFactory = work => {
    val thread = new Thread(work, name)
    thread.setDaemon(true)
    thread
  }
}
