package org.apache.spark.sql.delta.upkeep.versions

import org.apache.spark.sql.delta.OptimisticTransactionImpl
import org.apache.spark.sql.delta.actions.Action

/** What hooks get until 3.3. */
private[upkeep] object ToHooks {
  type Transaction = OptimisticTransactionImpl
  type Actions = Seq[Action]

  def noActions: Actions = Nil
}
