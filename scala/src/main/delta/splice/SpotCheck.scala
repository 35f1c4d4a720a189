package org.apache.spark.sql.delta.upkeep.splice

import io.deltaupkeep.parquet.file.SpliceOutcome
import io.deltaupkeep.parquet.gather.SampledRow

import org.apache.hadoop.conf.Configuration

/**
 * Checks some rows of a new file against its inputs, in the task that wrote it. It must share no code with the engine
 * that wrote the file: a mistake common to both would go unnoticed.
 */
trait SpotCheck extends Serializable {

  /**
   * What is wrong with the new file, or None.
   *
   * @param file   as it was written
   * @param inputs those that are in it, at the positions that `done` refers to
   */
  def findingIn(
      file: SpliceInput,
      inputs: IndexedSeq[SpliceInput],
      done: SpliceOutcome.Done,
      conf: Configuration
  ): Option[Finding]

  /**
   * The same for files whose rows come from anywhere in the inputs.
   *
   * @param files with the rows to look at
   */
  def findingIn(
      files: Seq[(SpliceInput, Seq[SampledRow])],
      inputs: IndexedSeq[SpliceInput],
      conf: Configuration
  ): Option[Finding]
}

/** What a spot check found; a sentence. */
sealed trait Finding {
  def text: String
}

object Finding {

  /** Rows that differ from the input's, or could not be read. Reading all rows decides. */
  final case class OfRows(text: String) extends Finding

  /** A value outside the bounds that the new file gives. Queries that skip by them would lose rows. */
  final case class OfBounds(text: String) extends Finding
}
