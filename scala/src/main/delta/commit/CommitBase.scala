package org.apache.spark.sql.delta.upkeep.commit

import org.apache.spark.sql.delta.{RowId, Snapshot}
import org.apache.spark.sql.delta.actions.DomainMetadata
import org.apache.spark.sql.delta.upkeep.files.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.SnapshotCopy

/**
 * The version of a table that a commit of new files starts from.
 *
 * If the table has row ids, Delta asks it for their high water mark (protocol, 'Row IDs') and replays the whole log in
 * queries to find it, which can take longer than the compaction. The version's checksum has the mark too.
 */
private[upkeep] object CommitBase {

  /** The snapshot, with the mark from its checksum, unless files have higher ids or not all files are known. */
  def of(snapshot: Snapshot, files: SelectedFiles): Snapshot = {
    val known = for {
      checksum <- snapshot.checksumOpt if RowId.isSupported(snapshot.protocol)
      domains <- checksum.domainMetadata
      base = new SnapshotOfChecksum(snapshot, domains)
      mark <- RowId.extractHighWatermark(base) if files.highestRowId.exists(_ <= mark)
    } yield base
    known.getOrElse(snapshot)
  }
}

/** The same version of the table, with the domain metadata of its checksum. Nothing is replayed for it. */
private final class SnapshotOfChecksum(original: Snapshot, domains: Seq[DomainMetadata])
    extends SnapshotCopy(original) {

  override def domainMetadata: Seq[DomainMetadata] = domains
}
