package io.deltaupkeep.optimize

import java.nio.charset.StandardCharsets.UTF_8
import java.time.{LocalDate, LocalDateTime, OffsetDateTime}
import java.util.Arrays

import scala.util.Try

import com.fasterxml.jackson.databind.{DeserializationFeature, JsonNode}
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature
import com.fasterxml.jackson.databind.json.JsonMapper
import com.fasterxml.jackson.databind.node.{JsonNodeFactory, ObjectNode}

import org.apache.spark.sql.types._

/**
 * Statistics of a file that holds the rows of others, from theirs (protocol, 'Per-file Statistics'). Pure.
 *
 * @param schema of the data columns, by their physical names
 */
final class MergedStats(schema: StructType) {
  import MergedStats._

  private val leaves = leavesOf(schema, Nil)

  /**
   * The statistics as JSON.
   *
   * @param inputs     statistics of each input, null where it has none
   * @param fromFooter statistics that the new file's own footer gives: asked for what some inputs tell of a
   *                   column and others do not. It cannot count the nulls of arrays and maps.
   */
  def of(inputs: Seq[String], fromFooter: => Option[String]): Option[String] = {
    val parsed = inputs.map(text => Option(text).filter(_.nonEmpty).fold[JsonNode](noStats)(mapper.readTree))
    lazy val footer = fromFooter.fold[JsonNode](noStats)(mapper.readTree)
    val complete = parsed.nonEmpty && parsed.forall(_.hasNonNull(NumRecords))
    val withRows = parsed.filterNot(_.path(NumRecords).asLong(1) == 0)
    val merged = leaves.map { leaf =>
      val stats = if (complete) mergeLeaf(leaf, withRows) else None
      leaf.path -> stats.getOrElse(if (leaf.isCollection) unknown else statsOf(leaf, footer))
    }
    val rows = if (complete) Some(parsed.map(_.get(NumRecords).longValue).sum)
    else at(footer, Seq(NumRecords)).map(_.longValue)
    rows.map(write(_, merged, parsed))
  }

  private def write(
      rows: Long,
      columns: Seq[(List[String], Map[String, JsonNode])],
      inputs: Seq[JsonNode]
  ): String = {
    val result = JsonNodeFactory.instance.objectNode()
    result.put(NumRecords, rows)
    for {
      kind <- Seq(Min, Max, NullCount)
      (path, stats) <- columns
      value <- stats.get(kind)
    } put(result, kind +: path, value)
    if (inputs.exists(_.has(TightBounds)))
      result.put(TightBounds, inputs.forall(i => !i.has(TightBounds) || i.get(TightBounds).booleanValue))
    mapper.writeValueAsString(result)
  }

  private def statsOf(leaf: Leaf, node: JsonNode): Map[String, JsonNode] =
    Seq(Min, Max, NullCount).flatMap(kind => at(node, kind +: leaf.path).map(kind -> _)).toMap

  /** Min, max and count of nulls of one column, as far as the inputs have them; None if only some have. */
  private def mergeLeaf(leaf: Leaf, inputs: Seq[JsonNode]): Option[Map[String, JsonNode]] = {
    val nulls = inputs.map(at(_, NullCount +: leaf.path))
    if (nulls.exists(_.isEmpty)) Option.when(nulls.forall(_.isEmpty) && bounds(leaf, inputs).isEmpty)(unknown)
    else {
      val counts = nulls.flatten.map(_.longValue)
      val total = JsonNodeFactory.instance.numberNode(counts.sum)
      val valued =
        inputs.zip(counts).collect { case (in, count) if count < in.get(NumRecords).longValue => in }
      val known = bounds(leaf, valued)
      if (known.isEmpty) Some(Map(NullCount -> total))
      else if (known.size < 2 * valued.size) None
      else
        for {
          min <- least(leaf.dataType, valued.flatMap(at(_, Min +: leaf.path)))
          max <- greatest(leaf.dataType, valued.flatMap(at(_, Max +: leaf.path)))
        } yield Map(NullCount -> total, Min -> min, Max -> max)
    }
  }

  private def bounds(leaf: Leaf, inputs: Seq[JsonNode]): Seq[JsonNode] =
    inputs.flatMap(in => at(in, Min +: leaf.path) ++ at(in, Max +: leaf.path))
}

private object MergedStats {
  private val NumRecords = "numRecords"
  private val Min = "minValues"
  private val Max = "maxValues"
  private val NullCount = "nullCount"
  private val TightBounds = "tightBounds"

  // Numbers are written as they were read.
  private val mapper = JsonMapper
    .builder()
    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
    .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
    .build()

  private val unknown = Map.empty[String, JsonNode]

  private val noStats: JsonNode = JsonNodeFactory.instance.objectNode()

  private final case class Leaf(path: List[String], dataType: DataType) {
    def isCollection: Boolean = dataType.isInstanceOf[ArrayType] || dataType.isInstanceOf[MapType]
  }

  /** Columns that statistics tell of: those of structs one by one, arrays and maps as a whole. */
  private def leavesOf(schema: StructType, parents: List[String]): Seq[Leaf] =
    schema.fields.toSeq.flatMap { field =>
      val path = parents :+ field.name
      field.dataType match {
        case struct: StructType => leavesOf(struct, path)
        case other => Seq(Leaf(path, other))
      }
    }

  private def at(node: JsonNode, path: Seq[String]): Option[JsonNode] =
    path.foldLeft(Option(node))((found, name) => found.flatMap(n => Option(n.get(name)))).filterNot(_.isNull)

  private def put(to: ObjectNode, path: Seq[String], value: JsonNode): Unit = path match {
    case Seq(name) =>
      to.set[JsonNode](name, value)
      ()
    case Seq(name, rest @ _*) =>
      val child = Option(to.get(name)).getOrElse(to.putObject(name)).asInstanceOf[ObjectNode]
      put(child, rest, value)
    case _ => ()
  }

  private def least(dataType: DataType, values: Seq[JsonNode]): Option[JsonNode] =
    orderOf(dataType, values).map(_.head)

  private def greatest(dataType: DataType, values: Seq[JsonNode]): Option[JsonNode] =
    orderOf(dataType, values).map(_.last)

  /** The values in the order of their type; None where one of them is none of its values. */
  private def orderOf(dataType: DataType, values: Seq[JsonNode]): Option[Seq[JsonNode]] = dataType match {
    case _: NumericType => sorted(values)(v => Option.when(v.isNumber)(v.decimalValue))(_ compareTo _)
    case _: StringType =>
      sorted(values)(v => Option.when(v.isTextual)(v.textValue.getBytes(UTF_8)))(Arrays.compareUnsigned)
    case DateType => sorted(values)(v => Try(LocalDate.parse(v.textValue)).toOption)(_ compareTo _)
    case TimestampType =>
      sorted(values)(v => Try(OffsetDateTime.parse(v.textValue).toInstant).toOption)(_ compareTo _)
    case TimestampNTZType =>
      sorted(values)(v => Try(LocalDateTime.parse(v.textValue)).toOption)(_ compareTo _)
    case _ => None
  }

  private def sorted[T](values: Seq[JsonNode])(read: JsonNode => Option[T])(
      compare: (T, T) => Int
  ): Option[Seq[JsonNode]] = {
    val keyed = values.flatMap(value => read(value).map(_ -> value))
    Option.when(keyed.size == values.size && keyed.nonEmpty) {
      keyed.sortWith((a, b) => compare(a._1, b._1) < 0).map(_._2)
    }
  }
}
