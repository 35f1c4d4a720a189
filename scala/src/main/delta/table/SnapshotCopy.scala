package org.apache.spark.sql.delta.upkeep.table

import org.apache.spark.sql.delta.Snapshot

/** The same version of a table, for subclasses that know something of it, for which Delta would replay the log. */
private[upkeep] abstract class SnapshotCopy(original: Snapshot)
    extends Snapshot(
      original.path,
      original.version,
      original.logSegment,
      original.deltaLog,
      original.checksumOpt
    )
