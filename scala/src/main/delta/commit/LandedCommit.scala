package org.apache.spark.sql.delta.upkeep.commit

import scala.util.control.NonFatal

import org.apache.spark.sql.delta.OptimisticTransaction
import org.apache.spark.sql.delta.actions.{AddFile, CommitInfo}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/**
 * A commit that succeeded although its writer got an error: a store client may retry a request whose response
 * was lost, and then find its own file.
 */
private[upkeep] object LandedCommit {

  /**
   * The version that the commit became, if it is in the log.
   *
   * @param adds    of the commit
   * @param failure of the commit; thrown if the log cannot be read, because the outcome is then unknown
   */
  def version(
      handle: DeltaHandle,
      transaction: OptimisticTransaction,
      adds: Seq[AddFile],
      failure: Exception
  ): Option[Long] = {
    val paths = adds.iterator.map(_.path).toSet
    try
      DeltaApi.current
        .changes(handle.snapshot.deltaLog, transaction.readVersion + 1, handle.table.catalogTable)
        .collectFirst {
          case (version, actions) if actions.exists {
                case info: CommitInfo => info.txnId.contains(transaction.txnId)
                case add: AddFile => paths(add.path)
                case _ => false
              } => version
        }
    catch {
      case NonFatal(unreadable) =>
        failure.addSuppressed(unreadable)
        throw failure
    }
  }
}
