package org.apache.spark.sql.delta.upkeep.splice

import io.deltaupkeep.parquet.file.SpliceOutcome

import org.apache.hadoop.conf.Configuration

/**
 * Looks at some rows of a new file and of its inputs, in the task that wrote it. It must share no code with the engine
 * that did: a mistake that both make is never seen.
 */
trait SpotCheck extends Serializable {

  /**
   * What is wrong with the new file, or None.
   *
   * @param file   as it was written
   * @param inputs those that are in it, by the positions that `done` has of them
   */
  def findingIn(
      file: SpliceInput,
      inputs: IndexedSeq[SpliceInput],
      done: SpliceOutcome.Done,
      conf: Configuration
  ): Option[Finding]
}

/** What a spot check found; a sentence. */
sealed trait Finding {
  def text: String
}

object Finding {

  /** Rows that are not those of the input, or that could not be read. Reading all rows decides. */
  final case class OfRows(text: String) extends Finding

  /** A value beyond the bounds that the new file gives. Queries that skip by them would lose rows. */
  final case class OfBounds(text: String) extends Finding
}
