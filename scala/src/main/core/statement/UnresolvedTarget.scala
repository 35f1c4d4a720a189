package io.deltaupkeep.sql

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.UnresolvedLeafNode
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.delta.upkeep.table.DeltaTarget
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/**
 * The table of a statement before it was looked up: a name, or a path with the Hadoop settings to reach it.
 *
 * @param fileSystemOptions never part of a plan's text: they may hold keys
 */
final case class UnresolvedTarget private (
    statement: String,
    name: Seq[String],
    path: Option[String],
    fileSystemOptions: Map[String, String]
) extends UnresolvedLeafNode {
  override protected def stringArgs: Iterator[Any] = Iterator(statement, path.getOrElse(name.mkString(".")))
}

object UnresolvedTarget {
  def name(statement: String, parts: Seq[String]): UnresolvedTarget =
    UnresolvedTarget(statement, parts, None, Map.empty)

  def path(
      statement: String,
      path: String,
      fileSystemOptions: Map[String, String] = Map.empty
  ): UnresolvedTarget =
    UnresolvedTarget(statement, Nil, Some(path), fileSystemOptions)
}

/** Looks the table up, or fails with an error that says what was found instead. */
private[sql] final case class ResolveTarget(session: SparkSession) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperators {
    case UnresolvedTarget(statement, _, Some(path), options) =>
      DeltaApi.require(statement)
      DeltaTarget.byPath(session, statement, path, options)
    case UnresolvedTarget(statement, name, None, _) =>
      DeltaApi.require(statement)
      DeltaTarget.byName(session, statement, name)
  }
}
