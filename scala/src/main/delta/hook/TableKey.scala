package org.apache.spark.sql.delta.upkeep.hook

import org.apache.spark.sql.delta.Snapshot

/** A table. One that is dropped and recreated at the same path is another table, with another id. */
private[upkeep] final case class TableKey(log: String, id: String) {
  override def toString: String = log
}

private[upkeep] object TableKey {
  def of(snapshot: Snapshot): TableKey =
    TableKey(snapshot.deltaLog.logPath.toString, snapshot.metadata.id)
}
