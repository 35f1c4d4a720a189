package org.apache.spark.sql.delta.upkeep

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.DeltaLog

/** What another writer does while OPTIMIZE is between its reads and its commit. */
object Meanwhile {

  /**
   * Runs something in which transactions are begun on this thread.
   *
   * @param changes are made in turns, each when a commit is about to be made that was not another change
   */
  def changing[T](changes: Iterator[() => Unit])(work: => T): T = {
    val events = new TestEvents {
      private var isChanging = false
      override def preparing(): Unit = if (!isChanging && changes.hasNext) {
        isChanging = true
        try changes.next()()
        finally isChanging = false
      }
    }
    events.observe(work)
  }

  /** For Python: the first row, as JSON, of a statement during which another one is run. */
  def sql(session: SparkSession, statement: String, meanwhile: String): String =
    changing(Iterator.single { () => session.sql(meanwhile).collect(); () }) {
      first(session, statement)
    }

  /** For Python: the same where the commit waits until one of another thread has come, at most ten seconds. */
  def sqlAfterNext(session: SparkSession, statement: String, table: String): String = {
    def version = DeltaLog.forTable(session, table).update().version
    val waiting = () => {
      val before = version
      val end = System.nanoTime() + 10000000000L
      while (version == before && System.nanoTime() < end) Thread.sleep(20)
    }
    changing(Iterator.single(waiting))(first(session, statement))
  }

  private def first(session: SparkSession, statement: String): String =
    session.sql(statement).collect().headOption.fold("")(_.json)
}
