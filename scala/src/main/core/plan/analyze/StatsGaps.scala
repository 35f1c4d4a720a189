package io.deltaupkeep.plan.analyze

import scala.util.Try

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/**
 * Finds what the statistics of a file lack (protocol, 'Per-file Statistics').
 *
 * @param columns whose nulls have to be counted, by the parts of their physical names. Bounds do not tell: a column
 *                without values has none
 */
final class StatsGaps(columns: Seq[Seq[String]]) {

  /** Why they have to be made again; None if they are complete. */
  def of(stats: String): Option[AnalyzeReason] =
    Option(stats).filter(_.nonEmpty).flatMap(text => Try(StatsGaps.mapper.readTree(text)).toOption)
      .filter(_.isObject) match {
      case None => Some(AnalyzeReason.NoStatistics)
      case Some(tree) =>
        Option(tree.get("numRecords")).filter(_.isIntegralNumber).map(_.longValue) match {
          case None => Some(AnalyzeReason.NoRows)
          case Some(0L) => None
          case Some(_) =>
            val counts = Option(tree.get("nullCount"))
            Option.unless(columns.forall(path => counts.exists(has(_, path))))(AnalyzeReason.NoColumn)
        }
    }

  private def has(counts: JsonNode, path: Seq[String]): Boolean =
    path.foldLeft(Option(counts))((node, name) => node.flatMap(n => Option(n.get(name)))).exists(_.isNumber)
}

private object StatsGaps {
  private val mapper = new ObjectMapper
}
