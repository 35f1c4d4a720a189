package io.deltaupkeep.statement

import org.apache.spark.sql.catalyst.analysis.UnresolvedLeafNode

/**
 * The table of a statement before it is looked up: a name, or a path with the Hadoop settings to reach it.
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
