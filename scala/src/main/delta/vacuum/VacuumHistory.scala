package org.apache.spark.sql.delta.upkeep.vacuum

import org.apache.spark.sql.delta.DeltaOperations
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/** The entries VACUUM START and VACUUM END of a table's history, as Delta writes them. */
private[vacuum] final class VacuumHistory(table: DeltaHandle, askedMs: Option[Long]) {
  import VacuumHistory._

  def started(files: Long, bytes: Long): Unit = commit(
    DeltaOperations.VacuumStart(table.retentionCheckEnabled, askedMs, table.facts.deletedFileRetentionMs),
    Map("numFilesToDelete" -> files, "sizeOfDataToDelete" -> bytes)
  )

  def completed(files: Long, directories: Long): Unit = commit(
    DeltaOperations.VacuumEnd("COMPLETED"),
    Map("numDeletedFiles" -> files, "numVacuumedDirectories" -> directories)
  )

  def failed(): Unit = commit(DeltaOperations.VacuumEnd("FAILED"), Map.empty)

  private def commit(operation: DeltaOperations.Operation, values: Map[String, Long]): Unit = if (isOn) {
    val transaction = table.table.startTransaction(None)
    transaction.registerSQLMetrics(
      table.session,
      values.map { case (name, value) => name -> metric(name, value) }
    )
    transaction.commit(Nil, operation)
    ()
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
  private val Schemes = Set("wasbs", "wasbss", "abfs", "abfss", "adl", "gs", "file", "hdfs")
}
