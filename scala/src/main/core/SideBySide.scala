package io.deltaupkeep

import java.util.concurrent.{Callable, ExecutionException, ExecutorCompletionService, Executors, Future}

import scala.util.{Failure, Success, Try}

/** Runs work on several threads in parallel. Any error ends it, so that none is lost with its thread. */
object SideBySide {

  /** The results in the order of the items. Throws the first error as it is, and interrupts what still runs. */
  def map[A, B](items: Seq[A], name: String, threads: Int)(run: A => B): Seq[B] =
    submitted(items, name, threads)(run) { (tasks, ended) =>
      tasks.foreach(_ => resultOf(ended.take()))
      tasks.map(resultOf(_))
    }

  /** Waits for all of the work, whatever fails. */
  def attempts[A, B](items: Seq[A], name: String, threads: Int)(run: A => B): Seq[Try[B]] =
    submitted(items, name, threads)(run)((tasks, _) => tasks.map(attempt(_)))

  private def submitted[A, B, R](items: Seq[A], name: String, threads: Int)(run: A => B)(
      collect: (Seq[Future[B]], ExecutorCompletionService[B]) => Seq[R]
  ): Seq[R] =
    if (items.isEmpty) Nil
    else {
      val pool = Executors.newFixedThreadPool(math.min(threads, items.size), DaemonThreads(name))
      try {
        val ended = new ExecutorCompletionService[B](pool)
        val tasks = items.toVector.map { item =>
          val task: Callable[B] = () => run(item)
          ended.submit(task)
        }
        collect(tasks, ended)
      } finally DaemonThreads.stop(pool)
    }

  private def resultOf[B](task: Future[B]): B =
    try task.get()
    catch { case failed: ExecutionException => throw failed.getCause }

  private def attempt[B](task: Future[B]): Try[B] =
    try Success(resultOf(task))
    catch {
      case stopped: InterruptedException => throw stopped
      case failure: Throwable => Failure(failure)
    }
}
