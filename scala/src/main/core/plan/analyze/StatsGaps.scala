package io.deltaupkeep.plan.analyze

import scala.util.{Try, Using}

import com.fasterxml.jackson.core.JsonToken
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/**
 * Finds what the statistics of a file lack (protocol, 'Per-file Statistics').
 *
 * @param columns whose nulls have to be counted, by the parts of their physical names. Bounds do not tell: a column
 *                without values has none
 */
final class StatsGaps(columns: Seq[Seq[String]]) {
  import StatsGaps._

  /** Why they have to be made again; None if they are complete. */
  def of(stats: String): Option[AnalyzeReason] =
    Option(stats).filter(_.nonEmpty).flatMap(Counts.in) match {
      case None => Some(AnalyzeReason.NoStatistics)
      case Some(Counts(None, _)) => Some(AnalyzeReason.NoRows)
      case Some(Counts(Some(0L), _)) => None
      case Some(Counts(_, nulls)) =>
        Option.unless(columns.forall(path => nulls.exists(has(_, path))))(AnalyzeReason.NoColumn)
    }

  private def has(counts: JsonNode, path: Seq[String]): Boolean =
    path.foldLeft(Option(counts))((node, name) => node.flatMap(n => Option(n.get(name)))).exists(_.isNumber)
}

private object StatsGaps {
  private val mapper = new ObjectMapper

  /** What statistics count. */
  private final case class Counts(rows: Option[Long], nulls: Option[JsonNode])

  private object Counts {

    /** None if the text is no JSON object. The bounds, which are most of it, are passed over. */
    def in(text: String): Option[Counts] = Try {
      Using.resource(mapper.createParser(text)) { json =>
        Option.when(json.nextToken() == JsonToken.START_OBJECT) {
          var counts = Counts(None, None)
          while (json.nextToken() == JsonToken.FIELD_NAME) {
            val name = json.currentName
            val token = json.nextToken()
            name match {
              case "numRecords" =>
                counts =
                  counts.copy(rows = Option.when(token == JsonToken.VALUE_NUMBER_INT)(json.getLongValue))
                json.skipChildren()
              case "nullCount" => counts = counts.copy(nulls = Option(mapper.readTree[JsonNode](json)))
              case _ => json.skipChildren()
            }
          }
          counts
        }
      }
    }.toOption.flatten
  }
}
