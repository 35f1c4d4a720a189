package org.apache.spark.sql.delta.upkeep.table

import org.apache.spark.sql.delta.Snapshot

/** The same version of a table, for subclasses that know something that Delta would replay the log to find. */
private[upkeep] abstract class SnapshotCopy(original: Snapshot)
    extends Snapshot(
      original.path,
      original.version,
      original.logSegment,
      original.deltaLog,
      original.checksumOpt
    )
