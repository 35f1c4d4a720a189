package io.deltaupkeep.stats

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.time.{Instant, LocalDate, ZoneOffset}
import java.time.format.DateTimeFormatter

import scala.annotation.tailrec
import scala.util.{Try, Using}

import com.fasterxml.jackson.core.{JsonParser, JsonToken}
import com.fasterxml.jackson.databind.{DeserializationFeature, JsonNode}
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature
import com.fasterxml.jackson.databind.json.JsonMapper
import com.fasterxml.jackson.databind.node.{DecimalNode, JsonNodeFactory, ObjectNode}
import io.deltaupkeep.parquet.footer.{LeafBounds, LeafTotals}

import org.apache.spark.sql.types.{
  DataType,
  DateType,
  DecimalType,
  StructType,
  TimestampNTZType,
  TimestampType
}

/**
 * The statistics in the footer of a new file.
 *
 * @param json   as Delta collects them: row groups without bounds are skipped
 * @param leaves what else is known of its columns, by path
 */
final case class FooterStats(json: String, leaves: Map[Seq[String], LeafTotals])

/**
 * The statistics of a merged file, made from those of its inputs (protocol, 'Per-file Statistics'). Pure.
 *
 * @param schema of the data columns, by their physical names
 */
final class MergedStats(schema: StructType) {
  import MergedStats._

  /**
   * @param inputs  statistics of each input; null if it has none
   * @param deleted rows of the inputs that deletion vectors hide
   */
  def of(inputs: Seq[String], deleted: Long = 0): MergedStats.Result = {
    val fold = new Fold(schema)
    inputs.foreach(text => fold.add(parsed(Option(text).filter(_.nonEmpty))))
    new Result(fold, deleted)
  }

  /** What Delta's writer says of a new file, without bounds that may not hold all of its values. */
  def certain(stats: String): String = {
    val tree = mapper.readTree(stats)
    new Fold(schema).columns.foreach { column =>
      val said = ColumnStats.Of(at(tree, Min +: column.path), at(tree, Max +: column.path), None)
      // Delta's readers disagree about the bounds of variants.
      val certain =
        if (column.dataType.typeName == "variant") said.copy(min = None, max = None)
        else said.withBothZeros(column.dataType).withoutReplaced
      if (certain != said)
        for (
          (kind, bound) <- Seq(Min -> certain.min, Max -> certain.max);
          group <- at(tree, kind +: column.path.init)
        ) {
          val parent = group.asInstanceOf[ObjectNode]
          bound.fold(parent.remove(column.path.last))(parent.replace(column.path.last, _))
        }
    }
    mapper.writeValueAsString(tree)
  }
}

object MergedStats {
  private[stats] val NumRecords = "numRecords"
  private[stats] val Min = "minValues"
  private[stats] val Max = "maxValues"
  private[stats] val NullCount = "nullCount"
  private val TightBounds = "tightBounds"

  // Numbers are written as they were read.
  private[stats] val mapper = JsonMapper
    .builder()
    .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
    .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
    .build()

  private val noStats: JsonNode = JsonNodeFactory.instance.objectNode()

  /** Whether statistics say the same. Files of which nothing is known have null or no text. */
  def areSame(one: String, other: String): Boolean =
    Option(one).exists(_.nonEmpty) && Option(other).exists(_.nonEmpty) &&
      Try(mapper.readTree(one) == mapper.readTree(other)).getOrElse(false)

  /** The number of rows in a file according to its statistics, deleted ones included. Parses no more than it must. */
  def numRecords(stats: String): Option[Long] =
    Option(stats).filter(_.nonEmpty).flatMap { text =>
      // Text that is damaged tells nothing.
      Using(mapper.createParser(text)) { parser =>
        parser.nextToken()
        numRecords(parser)
      }.toOption.flatten
    }

  /**
   * The statistics for a file that gets a deletion vector: their bounds may now come from deleted rows. None if they
   * lack the number of rows, which such a file must have.
   */
  def withWideBounds(stats: String): Option[String] = numRecords(stats).map { _ =>
    mapper.writeValueAsString(mapper.readTree(stats).asInstanceOf[ObjectNode].put(TightBounds, false))
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
  private[deltaupkeep] final case class Column(
      path: List[String],
      dataType: DataType,
      stats: ColumnStats.Of,
      isTight: Boolean
  )

  /** The merged statistics of the inputs. */
  final class Result private[MergedStats] (fold: Fold, deleted: Long) {

    /** The number of rows in all inputs without deleted ones, if every input has it. */
    def rows: Option[Long] = Option.when(fold.isComplete)(fold.rows - deleted)

    /**
     * What the log says about the columns outside lists and maps, for comparisons. If rows were deleted, the bounds may
     * be theirs, and null counts are left out, because they do not tell deleted rows from others.
     */
    private[deltaupkeep] def columns: Seq[Column] =
      if (!fold.isComplete) Nil
      else
        fold.columns.filterNot(_.isCollection).flatMap { column =>
          column.said.map { merged =>
            val known = if (deleted > 0) merged.copy(nullCount = None) else merged
            Column(column.path, column.dataType, known, deleted == 0 && fold.tightBounds.getOrElse(true))
          }
        }

    /**
     * The statistics as JSON.
     *
     * @param fromFooter statistics from the footer of the new file, used if some inputs have no statistics of a
     *                   column, and for all columns if rows were deleted: those of the inputs may count such rows
     */
    def json(fromFooter: => Option[FooterStats]): Option[String] = {
      lazy val footer = new ParsedFooter(fromFooter)
      val columns = fold.columns.map { column =>
        val merged = if (fold.isComplete && deleted == 0) column.result else None
        column.path -> merged.getOrElse(footer.statsOf(column)).withBothZeros(column.dataType)
      }
      val tightBounds = if (deleted > 0) Some(true) else fold.tightBounds
      rows.orElse(footer.rows).map(write(_, columns, tightBounds))
    }

    /** The statistics of a file with some of the rows, as JSON: their number, and what its own footer says. */
    def jsonOfPart(rows: Long, fromFooter: Option[FooterStats]): String = {
      val footer = new ParsedFooter(fromFooter)
      val columns =
        fold.columns.map(column => column.path -> footer.statsOf(column).withBothZeros(column.dataType))
      write(rows, columns, if (deleted > 0) Some(true) else fold.tightBounds)
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
    private val leaves = stats.fold(Map.empty[Seq[String], LeafTotals])(_.leaves)

    def rows: Option[Long] = at(node, Seq(NumRecords)).map(_.longValue)

    def statsOf(column: ColumnStats): ColumnStats.Of =
      if (column.isCollection) ColumnStats.Of(None, None, nullCollections(column))
      else {
        val leaf = leaves.get(column.path)
        val nullCount = at(node, NullCount +: column.path).map(_.longValue)
        val isBounded = leaf.flatMap(_.bounds).exists(isExact)
        def bound(kind: String) = at(node, kind +: column.path).filter(_ => isBounded)
        leaf.filter(_ => nullCount.nonEmpty).flatMap(ownBounds(column.dataType, _)) match {
          case Some((min, max)) => ColumnStats.Of(Some(min), Some(max), nullCount)
          // Delta's collector writes four digits of the year, whatever it is.
          case None if column.dataType == DateType => ColumnStats.Of(None, None, nullCount)
          case None => ColumnStats.Of(bound(Min), bound(Max), nullCount)
        }
      }

    /** Delta's collector replaces bytes that are not UTF-8. */
    private def isExact(bounds: LeafBounds): Boolean = bounds match {
      case LeafBounds.Texts(min, max) => isUtf8(min) && isUtf8(max)
      case _: LeafBounds.Numbers => true
    }

    private def isUtf8(bytes: Array[Byte]): Boolean =
      Try(UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes))).isSuccess

    /** Of types that Delta's collector leaves out, or gets wrong. */
    private def ownBounds(dataType: DataType, leaf: LeafTotals): Option[(JsonNode, JsonNode)] = {
      def times(format: DateTimeFormatter) = {
        val micros = leaf.bounds.collect { case LeafBounds.Numbers(min, max) => (min.toLong, max.toLong) }
        for {
          (first, last) <- micros.orElse(leaf.facts.flatMap(_.instants))
          min <- textOf(first, format)
          max <- textOf(last, format)
        } yield (min, max)
      }
      (dataType, leaf.bounds) match {
        case (TimestampType, _) => times(InstantFormat)
        case (TimestampNTZType, _) => times(LocalFormat)
        case (DateType, Some(LeafBounds.Numbers(min, max))) =>
          for (first <- dateOf(min); last <- dateOf(max)) yield (first, last)
        case (_: DecimalType, Some(LeafBounds.Numbers(min, max))) => Some((numberOf(min), numberOf(max)))
        case _ => None
      }
    }

    /** If the inputs have such a number: not every column of a table has statistics. */
    private def nullCollections(column: ColumnStats): Option[Long] =
      for {
        (_, leaf) <- leaves.find(_._1.startsWith(column.path)) if column.hasNullCounts
        facts <- leaf.facts
      } yield facts.nullCollections
  }

  /** Truncated to milliseconds, as in the log. */
  private def textOf(micros: Long, format: DateTimeFormatter): Option[JsonNode] = {
    val time = Instant.ofEpochMilli(Math.floorDiv(micros, 1000L)).atOffset(ZoneOffset.UTC)
    Option.when(isPlain(time.getYear)) {
      JsonNodeFactory.instance.textNode(format.format(time))
    }
  }

  private def dateOf(days: BigDecimal): Option[JsonNode] = {
    val date = LocalDate.ofEpochDay(days.toLong)
    Option.when(isPlain(date.getYear))(JsonNodeFactory.instance.textNode(date.toString))
  }

  /** Whether all readers understand the text of a year. */
  private def isPlain(year: Int): Boolean = year >= 1 && year <= 9999

  private def numberOf(value: BigDecimal): JsonNode = DecimalNode.valueOf(value.bigDecimal)

  private val InstantFormat = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSXXX")
  private val LocalFormat = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS")

  private[stats] def at(node: JsonNode, path: Seq[String]): Option[JsonNode] =
    path.foldLeft(Option(node))((found, name) => found.flatMap(n => Option(n.get(name)))).filterNot(_.isNull)

  private[stats] def put(to: ObjectNode, path: Seq[String], value: JsonNode): Unit = path match {
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
        // The log has the shortest decimal of a float, which is another double.
        case other => new Leaf(new ColumnStats(path, other, WidenedTypes.of(field).contains("float")))
      })
    }
  )
}
