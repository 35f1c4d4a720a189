package io.deltaupkeep

import java.util.concurrent.{ExecutionException, FutureTask}

/**
 * Runs work that must not be interrupted: some stores publish half a file if its writer is interrupted, and an
 * interrupted clean-up leaves files behind. Cancelled jobs and ending applications interrupt threads.
 */
object Uninterrupted {

  /**
   * Runs the work in a separate thread and waits for it. An interrupt that arrives meanwhile takes effect
   * afterwards.
   */
  def apply[T](work: => T): T = {
    val task = new FutureTask[T](() => work)
    val thread = new Thread(task, "delta-upkeep-uninterrupted")
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
