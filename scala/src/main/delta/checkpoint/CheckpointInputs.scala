package org.apache.spark.sql.delta.upkeep.checkpoint

import scala.collection.mutable
import scala.util.control.NonFatal

import io.deltaupkeep.plan.checkpoint.Policy

import org.apache.spark.sql.delta.upkeep.read.{CheckpointPointer, CheckpointSchema}
import org.apache.spark.sql.delta.upkeep.spark.SparkApi.ClassicSession
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, SessionCopy}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.internal.SQLConf.ParquetOutputTimestampType

/** The inputs of a checkpoint, shared by its plan and its execution. Each is read once. */
private[checkpoint] final class CheckpointInputs(val handle: DeltaHandle, pages: Boolean) {

  lazy val session: ClassicSession = SessionCopy.of(handle.session) { conf =>
    // The number of partitions is the number of files.
    conf.setConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED, false)
    // Partition values and bounds stay as logged, however the session rebases old dates and rounds timestamps.
    conf.setConfString(SQLConf.PARQUET_REBASE_MODE_IN_WRITE.key, "CORRECTED")
    conf.setConfString(SQLConf.PARQUET_INT96_REBASE_MODE_IN_WRITE.key, "CORRECTED")
    if (conf.parquetOutputTimestampType == ParquetOutputTimestampType.TIMESTAMP_MILLIS)
      conf.setConfString(
        SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE.key,
        ParquetOutputTimestampType.TIMESTAMP_MICROS.toString
      )
  }

  lazy val schema: CheckpointSchema = new CheckpointSchema(session, handle.snapshot)
  lazy val log: ReadableLog = new ReadableLog(handle)
  lazy val damaged: DamagedCheckpoints = new DamagedCheckpoints(handle, pages)
  val pointer: CheckpointPointer = new CheckpointPointer(handle)

  private val bases = mutable.Map.empty[Policy, Either[String, CheckpointBase]]

  /**
   * What a checkpoint with this policy can build on, or why there is nothing. Reads the commits since the last
   * one.
   */
  def baseOf(policy: Policy): Either[String, CheckpointBase] =
    bases.getOrElseUpdate(
      policy,
      session.withActive {
        try CheckpointBase.of(handle, policy, schema, log)
        catch { case NonFatal(e) => Left(log.flaw.getOrElse(throw e)) }
      }
    )
}
