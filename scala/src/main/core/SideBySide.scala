package io.deltaupkeep

import java.util.concurrent.{Callable, ExecutionException, Executors}

import scala.util.{Failure, Success, Try}

/** Runs work on several threads in parallel. Any error ends it, so that none is lost with its thread. */
object SideBySide {

  /** The results in the order of the items. Throws the first error as it is, and interrupts what still runs. */
  def map[A, B](items: Seq[A], name: String, threads: Int)(run: A => B): Seq[B] =
    submitted(items, name, threads)(run)(_.map(_()).toVector)

  /** Waits for all of the work, whatever fails. */
  def attempts[A, B](items: Seq[A], name: String, threads: Int)(run: A => B): Seq[Try[B]] =
    submitted(items, name, threads)(run)(_.map(attempt(_)).toVector)

  private def submitted[A, B, R](items: Seq[A], name: String, threads: Int)(run: A => B)(
      collect: Iterator[() => B] => R
  ): R =
    if (items.isEmpty) collect(Iterator.empty)
    else {
      val pool = Executors.newFixedThreadPool(math.min(threads, items.size), DaemonThreads(name))
      try {
        val tasks = items.toVector.map { item =>
          val task: Callable[B] = () => run(item)
          pool.submit(task)
        }
        collect(tasks.iterator.map(task => () => resultOf(task.get())))
      } finally DaemonThreads.stop(pool)
    }

  private def resultOf[B](get: => B): B =
    try get
    catch { case failed: ExecutionException => throw failed.getCause }

  private def attempt[B](result: () => B): Try[B] =
    try Success(result())
    catch {
      case stopped: InterruptedException => throw stopped
      case failure: Throwable => Failure(failure)
    }
}
