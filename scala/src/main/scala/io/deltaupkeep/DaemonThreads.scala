package io.deltaupkeep

import java.util.concurrent.ThreadFactory

/** Threads that do not keep a JVM alive. */
private[deltaupkeep] object DaemonThreads {
  def apply(name: String): ThreadFactory = work => {
    val thread = new Thread(work, name)
    thread.setDaemon(true)
    thread
  }
}
