package org.apache.spark.sql.delta.upkeep.read

import org.apache.spark.sql.Column
import org.apache.spark.sql.delta.util.DeltaFileOperations
import org.apache.spark.unsafe.types.UTF8String

/** Paths in the one spelling by which reconciliation compares them (protocol, 'Action Reconciliation'). */
private[upkeep] object FilePaths {

  /** Marks paths that may have several spellings for one file, such as absolute paths. */
  private val UnusualParts = Seq(":", "//", "/.")
  private val UnusualStarts = Seq("/", ".")

  def isUnusual(path: String): Boolean =
    UnusualParts.exists(path.contains) || UnusualStarts.exists(path.startsWith)

  /** The location that a path of the log names, as Hadoop spells it without escapes. Most need not be parsed. */
  def absolute(root: String, path: String): String =
    if (path.nonEmpty && !isUnusual(path) && !path.endsWith("/") && path.forall(isPlain))
      s"${root.stripSuffix("/")}/$path"
    else DeltaFileOperations.absolutePath(root, path).toString

  private def isPlain(char: Char): Boolean =
    char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z' || char >= '0' && char <= '9' || "-_.=/".indexOf(
      char.toInt
    ) >= 0

  /** The spelling by which Delta compares paths: `x//y` and `./x/y` are `x/y`. */
  def respelled(path: String, canonical: String => String): String =
    if (isUnusual(path)) canonical(path) else path

  def respelled(path: UTF8String, canonical: String => String): UTF8String = {
    val text = path.toString
    if (isUnusual(text)) UTF8String.fromString(canonical(text)) else path
  }

  def isUnusual(path: Column): Column =
    (UnusualParts.map(path.contains(_)) ++ UnusualStarts.map(path.startsWith(_: String))).reduce(_ || _)
}
