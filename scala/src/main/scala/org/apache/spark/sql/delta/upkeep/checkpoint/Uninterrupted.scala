package org.apache.spark.sql.delta.upkeep.checkpoint

import java.util.concurrent.{ExecutionException, FutureTask}

/**
 * Work that an interrupt does not reach: some stores publish what they have of a file whose writer is interrupted.
 * Cancelled jobs interrupt the threads that run them, and so does the end of an application.
 */
private[upkeep] object Uninterrupted {

  /** Does it in a thread of its own and waits for its end; an interrupt that came meanwhile comes after it. */
  def apply[T](work: => T): T = {
    val task = new FutureTask[T](() => work)
    val thread = new Thread(task, "delta-upkeep-publish")
    thread.setDaemon(true)
    thread.start()
    var isInterrupted = false
    while (!task.isDone)
      try thread.join()
      catch { case _: InterruptedException => isInterrupted = true }
    if (isInterrupted) Thread.currentThread.interrupt()
    try task.get()
    catch { case e: ExecutionException => throw e.getCause }
  }
}
