package org.apache.spark.sql.delta.upkeep.rewrite

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.splice.CurveOf

/** How new files of bins are made for a layout. */
private[upkeep] trait RewriteLayout {

  /** The rows of a bin in the order of its new files, with one partition for each. */
  def arranged(rows: DataFrame, outputs: Int): DataFrame

  /** The curve along which rows are ordered, if they are. */
  def curve: Option[CurveOf] = None

  /** Tags the new files of a bin that were put in order, or written row by row. Called once per bin. */
  def marked(targetFileSize: Long): AddFile => AddFile

  /** Whether files that Spark cannot read may stay as they are. */
  def mayStay: Boolean = true

  /** Whether a deletion vector of a new file may hide what other writers delete meanwhile. */
  def mayHide: Boolean = true
}
