package org.apache.spark.sql.delta.upkeep.versions

import org.apache.spark.sql.delta.DeltaTransaction
import org.apache.spark.sql.delta.actions.Action

/** What hooks get in 4.0. */
private[upkeep] object ToHooks {
  type Transaction = DeltaTransaction
  type Actions = Iterator[Action]

  def noActions: Actions = Iterator.empty
}
