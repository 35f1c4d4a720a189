package org.apache.spark.sql.delta.upkeep.vacuum

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.delta.DeltaOperations
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/**
 * The entries VACUUM START and VACUUM END of a table's history, as Delta writes them. Where the store has no room for an
 * entry, VACUUM goes on without: it makes room. There is no end without a start, which could be that of another VACUUM.
 */
private[vacuum] final class VacuumHistory(table: DeltaHandle, askedMs: Option[Long]) extends Logging {
  import VacuumHistory._

  private var noRoomFor = Option.empty[String]

  /** Why there was no room for an entry, or None. */
  def unwritten: Option[String] = noRoomFor

  def started(files: Long, bytes: Long): Unit = commit(
    DeltaOperations.VacuumStart(table.retentionCheckEnabled, askedMs, table.facts.deletedFileRetentionMs),
    Map("numFilesToDelete" -> files, "sizeOfDataToDelete" -> bytes)
  )

  def completed(files: Long, directories: Long): Unit = commit(
    DeltaOperations.VacuumEnd("COMPLETED"),
    Map("numDeletedFiles" -> files, "numVacuumedDirectories" -> directories)
  )

  def failed(): Unit = commit(DeltaOperations.VacuumEnd("FAILED"), Map.empty)

  private def commit(operation: DeltaOperations.Operation, values: Map[String, Long]): Unit =
    if (isOn && noRoomFor.isEmpty)
      try {
        val transaction = table.table.startTransaction(None)
        transaction.registerSQLMetrics(
          table.session,
          values.map { case (name, value) => name -> metric(name, value) }
        )
        transaction.commit(Nil, operation)
        ()
      } catch {
        case NonFatal(e) if noRoom(e).nonEmpty =>
          logWarning(s"${table.name}: no room for ${operation.name} in the history", e)
          noRoomFor = noRoom(e)
      }

  private def metric(name: String, value: Long): SQLMetric = {
    val metric = SQLMetrics.createMetric(table.session.sparkContext, name)
    metric.set(value)
    metric
  }

  /** On other stores than these, Delta writes no entries unless it is told to. */
  private lazy val isOn: Boolean =
    table.session.sessionState.conf.getConf(DeltaSQLConf.DELTA_VACUUM_LOGGING_ENABLED).getOrElse {
      val log = table.snapshot.deltaLog
      try Schemes(log.store.resolvePathOnPhysicalStorage(log.dataPath, table.hadoopConf).toUri.getScheme)
      catch { case _: UnsupportedOperationException => false }
    }
}

private object VacuumHistory {

  /** What a store says that is full, or whose quota is used up. */
  private def noRoom(thrown: Throwable): Option[String] = {
    val causes = Iterator.iterate(thrown)(_.getCause).takeWhile(_ != null).take(MostCauses)
    causes.find { cause =>
      val kinds = Iterator.iterate[Class[_]](cause.getClass)(_.getSuperclass).takeWhile(_ != null)
      kinds.exists(kind => Full(kind.getSimpleName)) ||
      Option(cause.getMessage).exists(text => FullTexts.exists(text.contains))
    }.map(cause => Option(cause.getMessage).getOrElse(cause.getClass.getSimpleName).linesIterator.next())
  }

  private val Full = Set("QuotaExceededException", "ClusterStorageCapacityExceededException")
  private val FullTexts = Seq("No space left on device", "Disk quota exceeded")
  private val MostCauses = 20

  private val Schemes = Set("wasbs", "wasbss", "abfs", "abfss", "adl", "gs", "file", "hdfs")
}
