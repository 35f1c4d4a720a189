package org.apache.spark.sql.delta.upkeep.log

import org.apache.spark.sql.Column

/** A file of the table, as reconciliation identifies files (protocol, 'Action Reconciliation'). */
private[upkeep] final case class FileKey(path: String, deletionVector: Option[String])

private[upkeep] object FileKey {

  /** Marks paths that may have several spellings for one file, such as absolute paths. */
  private val UnusualParts = Seq(":", "//", "/.")
  private val UnusualStarts = Seq("/", ".")

  def isUnusual(path: String): Boolean =
    UnusualParts.exists(path.contains) || UnusualStarts.exists(path.startsWith)

  def isUnusual(path: Column): Column =
    (UnusualParts.map(path.contains(_)) ++ UnusualStarts.map(path.startsWith(_: String))).reduce(_ || _)
}
