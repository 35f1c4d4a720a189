package org.apache.spark.sql.delta.upkeep.versions

import java.lang.reflect.InvocationTargetException

import io.delta.VERSION

import org.apache.spark.SPARK_VERSION_SHORT
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.commands.DeltaPurgeOperation

/**
 * The files that REORG TABLE ... APPLY (PURGE) rewrites: with deleted rows, or with columns that the table has dropped.
 * Delta's method takes a session since 3.3 and any snapshot descriptor since 4.3, so it is found by name.
 */
private[upkeep] object FilesToPurge {

  private val filter = classOf[DeltaPurgeOperation].getMethods
    .filter(method => method.getName == "filterFilesToReorg" && !method.isBridge)
    .maxBy(_.getParameterCount)

  /** Delta 4.0.0 finds dropped columns by a constructor of Spark 4.0.0 that later versions lack. */
  private val canFindColumns = VERSION != "4.0.0" || SPARK_VERSION_SHORT == "4.0.0"

  /** Reads the footers of all files, in a Spark job, if Delta can find dropped columns. */
  def of(session: SparkSession, snapshot: Snapshot, files: Seq[AddFile]): Seq[AddFile] =
    if (canFindColumns) byDelta(session, snapshot, files) else files.filter(hidesRows)

  private def hidesRows(file: AddFile): Boolean =
    file.deletionVector != null && (file.numPhysicalRecords.isEmpty || file.numDeletedRecords > 0)

  private def byDelta(session: SparkSession, snapshot: Snapshot, files: Seq[AddFile]): Seq[AddFile] = {
    val needsSession = filter.getParameterCount == 3
    val arguments = Seq[AnyRef](session, snapshot, files).drop(if (needsSession) 0 else 1)
    try filter.invoke(new DeltaPurgeOperation, arguments: _*).asInstanceOf[Seq[AddFile]]
    catch { case failed: InvocationTargetException => throw failed.getCause }
  }
}
