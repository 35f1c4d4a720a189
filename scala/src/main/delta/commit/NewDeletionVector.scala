package org.apache.spark.sql.delta.upkeep.commit

import io.deltaupkeep.store.NewFiles

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.sql.delta.actions.{DeletionVectorDescriptor, Metadata}
import org.apache.spark.sql.delta.commands.DeletionVectorWriter
import org.apache.spark.sql.delta.deletionvectors.{RoaringBitmapArray, RoaringBitmapArrayFormat}
import org.apache.spark.sql.delta.storage.dv.DeletionVectorStore
import org.apache.spark.sql.delta.util.Utils

/**
 * Writes deletion vectors as Delta's DELETE does: each into a file in the table's directory, whatever its size.
 *
 * @param root of the table
 */
private[upkeep] final class NewDeletionVector(root: Path, metadata: Metadata, conf: Configuration) {

  private val store = DeletionVectorStore.createInstance(conf)

  /** Stores the vector of some rows. A failure leaves nothing behind. */
  def write(rows: RoaringBitmapArray): DeletionVectorDescriptor = {
    rows.runOptimize()
    val bytes = rows.serializeAsByteArray(RoaringBitmapArrayFormat.Portable)
    val prefix = Utils.getRandomPrefix(Utils.getRandomPrefixLength(metadata))
    val (writer, id) = DeletionVectorWriter.createWriter(store, store.pathWithFileSystem(root), prefix)
    def vector(offset: Int) = DeletionVectorDescriptor.onDiskWithRelativePath(
      id,
      prefix,
      bytes.length,
      rows.cardinality,
      Some(offset)
    )
    var isStored = false
    try {
      val offset =
        try writer.write(bytes).offset
        finally writer.close()
      isStored = true
      vector(offset)
    } finally if (!isStored) NewFiles.remove(Seq(vector(offset = 0).absolutePath(root)), conf)
  }
}
