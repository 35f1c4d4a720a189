package io.deltaupkeep.optimize

import scala.annotation.tailrec

import com.fasterxml.jackson.core.{JsonParser, JsonToken}
import com.fasterxml.jackson.databind.{DeserializationFeature, JsonNode}
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature
import com.fasterxml.jackson.databind.json.JsonMapper
import com.fasterxml.jackson.databind.node.{JsonNodeFactory, ObjectNode}

import org.apache.spark.sql.types.{DataType, StructType}

/**
 * The statistics in the footer of a file.
 *
 * @param json    its statistics, as Delta collects them: row groups without bounds are skipped
 * @param bounded paths of the columns of which every row group with values has bounds
 */
final case class FooterStats(json: String, bounded: Set[Seq[String]])

/**
 * The statistics of a merged file, made from those of its inputs (protocol, 'Per-file Statistics'). Pure.
 *
 * @param schema of the data columns, by their physical names
 */
final class MergedStats(schema: StructType) {
  import MergedStats._

  /** @param inputs statistics of each input; null if it has none */
  def of(inputs: Seq[String]): MergedStats.Result = {
    val fold = new Fold(schema)
    inputs.foreach(text => fold.add(parsed(Option(text).filter(_.nonEmpty))))
    new Result(fold)
  }
}

object MergedStats {
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

  private val noStats: JsonNode = JsonNodeFactory.instance.objectNode()

  /** The number of rows in a file by its statistics, deleted ones included. Parses no more than it must. */
  def numRecords(stats: String): Option[Long] =
    Option(stats).filter(_.nonEmpty).flatMap { text =>
      val parser = mapper.createParser(text)
      try {
        parser.nextToken()
        numRecords(parser)
      } finally parser.close()
    }

  @tailrec
  private def numRecords(parser: JsonParser): Option[Long] =
    if (parser.nextToken() != JsonToken.FIELD_NAME) None
    else {
      val isWanted = parser.currentName == NumRecords
      val value = parser.nextToken()
      if (isWanted) Option.when(value.isNumeric)(parser.getLongValue)
      else {
        parser.skipChildren()
        numRecords(parser)
      }
    }

  /** The merged statistics of a column; `isTight` says that its bounds are values that it holds. */
  private[optimize] final case class Column(
      path: List[String],
      dataType: DataType,
      stats: ColumnStats.Of,
      isTight: Boolean
  )

  /** The merged statistics of the inputs. */
  final class Result private[MergedStats] (fold: Fold) {

    /** The number of rows in all inputs, deleted ones included, if every input has it. */
    def rows: Option[Long] = Option.when(fold.isComplete)(fold.rows)

    /** The columns outside lists and maps of which all inputs have statistics. */
    private[optimize] def columns: Seq[Column] =
      if (!fold.isComplete) Nil
      else
        fold.columns.filterNot(_.isCollection).flatMap { column =>
          column.result.map(Column(column.path, column.dataType, _, fold.tightBounds.getOrElse(true)))
        }

    /**
     * The statistics as JSON.
     *
     * @param fromFooter statistics from the footer of the new file, used if only some inputs have statistics
     *                   of a column. A footer does not count the nulls of arrays and maps.
     */
    def json(fromFooter: => Option[FooterStats]): Option[String] = {
      lazy val footer = new ParsedFooter(fromFooter)
      val columns = fold.columns.map { column =>
        val merged = if (fold.isComplete) column.result else None
        column.path -> merged.getOrElse(if (column.isCollection) ColumnStats.unknown
        else footer.statsOf(column.path))
      }
      val rows = if (fold.isComplete) Some(fold.rows) else footer.rows
      rows.map(write(_, columns, fold.tightBounds))
    }

    private def write(
        rows: Long,
        columns: Seq[(List[String], ColumnStats.Of)],
        tightBounds: Option[Boolean]
    ): String = {
      val numbers = JsonNodeFactory.instance
      val result = numbers.objectNode()
      result.put(NumRecords, rows)
      for ((path, stats) <- columns; value <- stats.min) put(result, Min +: path, value)
      for ((path, stats) <- columns; value <- stats.max) put(result, Max +: path, value)
      for ((path, stats) <- columns; count <- stats.nullCount)
        put(result, NullCount +: path, numbers.numberNode(count))
      tightBounds.foreach(result.put(TightBounds, _))
      mapper.writeValueAsString(result)
    }
  }

  private def parsed(stats: Option[String]): JsonNode = stats.fold[JsonNode](noStats)(mapper.readTree)

  private final class ParsedFooter(stats: Option[FooterStats]) {
    private val node = parsed(stats.map(_.json))

    def rows: Option[Long] = at(node, Seq(NumRecords)).map(_.longValue)

    def statsOf(path: List[String]): ColumnStats.Of = {
      val isBounded = stats.exists(_.bounded.contains(path))
      ColumnStats.Of(
        at(node, Min +: path).filter(_ => isBounded),
        at(node, Max +: path).filter(_ => isBounded),
        at(node, NullCount +: path).map(_.longValue)
      )
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

  /** Walks the statistics of each file once: a bin may have thousands of files. */
  private final class Fold(schema: StructType) {
    private val root = nodeOf(schema, Nil)
    private var files = 0
    private var filesWithRowCount = 0
    private var tight = Option.empty[Boolean]
    private var total = 0L

    val columns: Seq[ColumnStats] = root.columns

    /** Whether the statistics of every file have its number of rows. */
    def isComplete: Boolean = files > 0 && filesWithRowCount == files

    def rows: Long = total

    /** None if no file says whether its bounds are tight. */
    def tightBounds: Option[Boolean] = tight

    def add(stats: JsonNode): Unit = {
      files += 1
      if (stats.hasNonNull(NumRecords)) filesWithRowCount += 1
      val rows = stats.path(NumRecords).asLong(1)
      total += rows
      // A file without rows has no statistics of its columns.
      if (rows > 0) root.add(rows, stats.get(Min), stats.get(Max), stats.get(NullCount))
      if (stats.has(TightBounds)) tight = Some(stats.get(TightBounds).booleanValue && tight.getOrElse(true))
    }
  }

  /** Columns that have statistics: the fields of structs one by one, arrays and maps as a whole. */
  private sealed trait SchemaNode {
    def columns: Seq[ColumnStats]
    def add(rows: Long, min: JsonNode, max: JsonNode, nullCount: JsonNode): Unit
  }

  private final class Struct(fields: Array[(String, SchemaNode)]) extends SchemaNode {
    override def columns: Seq[ColumnStats] = fields.toSeq.flatMap(_._2.columns)
    override def add(rows: Long, min: JsonNode, max: JsonNode, nullCount: JsonNode): Unit =
      fields.foreach { case (name, node) =>
        node.add(rows, child(min, name), child(max, name), child(nullCount, name))
      }
    private def child(node: JsonNode, name: String): JsonNode = if (node == null) null else node.get(name)
  }

  private final class Leaf(column: ColumnStats) extends SchemaNode {
    override def columns: Seq[ColumnStats] = Seq(column)
    override def add(rows: Long, min: JsonNode, max: JsonNode, nullCount: JsonNode): Unit =
      column.add(rows, min, max, nullCount)
  }

  private def nodeOf(schema: StructType, parents: List[String]): Struct = new Struct(
    schema.fields.map { field =>
      val path = parents :+ field.name
      field.name -> (field.dataType match {
        case struct: StructType => nodeOf(struct, path)
        case other => new Leaf(new ColumnStats(path, other))
      })
    }
  )
}
