package org.apache.spark.sql.delta.upkeep.read

import io.deltaupkeep.{ByteText, UpkeepConf}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.Snapshot

/** How much of a log the driver may replay by itself: `spark.deltaUpkeep.driverBytes`. */
private[upkeep] object DriverBytes {

  /** Bytes of the commits since a table's last checkpoint, and of that checkpoint. */
  def ofLog(snapshot: Snapshot): Long =
    snapshot.logSegment.deltas.map(_.getLen).sum + snapshot.checkpointProvider.effectiveCheckpointSizeInBytes()

  /**
   * Why the driver should not replay it, or None.
   *
   * @param what   subject and verb of the reason, such as 'the log takes'
   * @param passes whether the bytes pass by, and only keys stay
   */
  def excess(session: SparkSession, what: String, bytes: Long, passes: Boolean = false): Option[String] = {
    val held = session.sessionState.conf.getConf(UpkeepConf.DriverBytes)
    val most = if (passes) math.min(held, Long.MaxValue / PassingBytes) * PassingBytes else held
    Option.when(bytes > most)(s"$what ${ByteText.of(bytes)}, more than ${ByteText.of(most)}")
  }

  /** How many of them pass for each that may stay. Keys alone take an eighth of most logs. */
  private val PassingBytes = 4L
}
