package io.deltaupkeep

import scala.collection.immutable.NumericRange

/**
 * The seeds of random cases: others in every run. `-DdeltaUpkeep.fuzz=100000` tries as many, from
 * `-DdeltaUpkeep.seed` on.
 */
object FuzzSeeds {

  private val first =
    Option(java.lang.Long.getLong("deltaUpkeep.seed")).fold(System.currentTimeMillis)(_.longValue)

  /** As many as a test tries without a property. */
  def apply(default: Int): NumericRange[Long] =
    first until first + Integer.getInteger("deltaUpkeep.fuzz", default).longValue

  /** How a run tries this one alone. */
  def clue(seed: Long): String = s"-DdeltaUpkeep.seed=$seed -DdeltaUpkeep.fuzz=1"
}
