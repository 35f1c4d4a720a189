package org.apache.spark.sql.delta.upkeep.splice

import java.util.BitSet

import io.deltaupkeep.UnreadableInput
import io.deltaupkeep.parquet.footer.RowSelection
import io.deltaupkeep.stats.MergedStats

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.delta.actions.{AddFile, DeletionVectorDescriptor}
import org.apache.spark.sql.delta.deletionvectors.StoredBitmap
import org.apache.spark.sql.delta.storage.dv.HadoopFileSystemDVStore

/**
 * The deletion vector of a file, as Delta reads it (protocol, 'Deletion Vectors').
 *
 * @param root of the table
 * @param rows of the file, deleted ones included, if the log has their number
 */
private[upkeep] final case class DeletionVector(
    descriptor: DeletionVectorDescriptor,
    root: String,
    rows: Option[Long]
) extends DeletedRows {

  /** Its stored size, and a bit for each row. */
  override def bytes: Long = descriptor.sizeInBytes + rows.getOrElse(0L) / 8

  /** @throws io.deltaupkeep.UnreadableInput names the file of the vector, if it has its own */
  override def read(conf: Configuration): RowSelection = {
    def load = StoredBitmap.create(descriptor, new Path(root)).load(new HadoopFileSystemDVStore(conf))
    val stored =
      if (descriptor.isOnDisk)
        UnreadableInput.naming(descriptor.absolutePath(new Path(root)).toString)(load)
      else load
    val gone = new BitSet()
    stored.forEach(row => gone.set(Math.toIntExact(row)))
    new RowSelection(gone)
  }
}

private[upkeep] object DeletionVector {
  def of(add: AddFile, root: Path): Option[DeletionVector] =
    Option(add.deletionVector).map(DeletionVector(_, root.toString, MergedStats.numRecords(add.stats)))
}
