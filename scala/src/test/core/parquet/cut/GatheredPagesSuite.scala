package io.deltaupkeep.parquet.cut

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Random

import io.deltaupkeep.parquet.DrawnValues
import io.deltaupkeep.parquet.PlainBytes.plain
import io.deltaupkeep.parquet.bytes.{MalformedPage, TooLarge}
import io.deltaupkeep.parquet.chunk.RowPages
import io.deltaupkeep.parquet.encoding.{LevelBuffer, ValueShape, Values}
import io.deltaupkeep.parquet.page.{LevelMap, PageData, PageLayout}

import org.apache.parquet.column.ColumnDescriptor
import org.apache.parquet.schema.MessageTypeParser
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

/** Rows that are taken in another order have the levels and values that they had. */
class GatheredPagesSuite extends AnyFunSuite with DrawnValues {
  import GatheredPagesSuite._

  for ((name, column) <- columns) test(s"rows keep their values: $name") {
    forDrawn(chunks(column)) { chunks =>
      val held = new HeldColumn(column, Long.MaxValue)
      chunks.foreach(chunk => held.append(new DrawnPages(column, chunk), LevelMap.identity(column)))
      val rows = chunks.flatMap(_.pages.flatten).toIndexedSeq
      assert(held.rows == rows.size)
      val random = new Random(rows.size.toLong)
      // Some rows twice, others never: a file gets only a part of the rows.
      val order = Array.fill(rows.size)(if (rows.isEmpty) 0 else random.nextInt(rows.size))
      val (from, until) = (order.length / 4, order.length - order.length / 5)
      val pages = new GatheredPages(held.finish(), order, from, until, PageLayout(7, 60, 1 << 20))
      assert(read(pages) == order.slice(from, until).toSeq.map(rows))
    }
  }

  for ((name, column) <- columns if column.getMaxRepetitionLevel == 0)
    test(s"rows that are kept near each other keep their values: $name") {
      forDrawn(chunks(column).flatMap(all => Gen.oneOf(0, 2, 100).map(all -> _))) {
        case (chunks, mostEntries) =>
          val rows = chunks.flatMap(_.pages.flatten).toIndexedSeq
          val order = new Random(rows.size.toLong).shuffle(rows.indices.toVector).toArray
          val held = new ScatteredColumn(column, new RowPlaces(order), mostEntries, Long.MaxValue)
          chunks.foreach(chunk => held.append(new DrawnPages(column, chunk), LevelMap.identity(column)))
          assert(held.rows == rows.size)
          val (from, until) = (order.length / 4, order.length - order.length / 5)
          val pages = new ScatteredPages(held, from, until, PageLayout(7, 60, 1 << 20))
          assert(read(pages) == order.slice(from, until).toSeq.map(rows))
      }
    }

  test("a column with more rows than its file says is malformed") {
    val column = columns("optional numbers")
    val held = new ScatteredColumn(column, new RowPlaces(Array(1, 0)), 10, Long.MaxValue)
    held.appendNulls(1)
    intercept[MalformedPage](held.appendNulls(2))
  }

  test("rows are kept in the block of their place, in the order of the inputs") {
    val random = new Random(7)
    val order = random.shuffle((0 until 3 * RowPlaces.BlockRows + 5).toVector).toArray
    val places = new RowPlaces(order)
    assert(places.blocks == 4)
    order.indices.foreach { place =>
      assert(places.keptAt(place) == places.kept(order(place)))
      assert(RowPlaces.blockOf(places.keptAt(place)) == RowPlaces.blockOf(place))
    }
    val inBlock = order.indices.groupBy(row => RowPlaces.blockOf(places.kept(row)))
    inBlock.values.foreach(rows => assert(rows.sorted.map(places.kept(_)) == rows.map(places.kept(_)).sorted))
  }

  test("a column that a file lacks is null, or has the shape of its neighbour") {
    val column = columns("list of optional texts")
    val held = new HeldColumn(column, Long.MaxValue)
    held.appendNulls(2)
    val other = columns("list of required numbers")
    val lists = Seq(Seq(Level(0, 2, Some(plain(7L)))), Seq(Level(0, 1, None)), Seq(Level(0, 0, None)))
    held.appendShape(
      new DrawnPages(other, Chunk(Seq(lists), ofIds = Set.empty)),
      LevelMap(IndexedSeq(0, 1, 2), 1)
    )
    val rows =
      read(new GatheredPages(held.finish(), Array(4, 3, 2, 1, 0), 0, 5, PageLayout(100, 1 << 20, 1 << 20)))
    assert(rows.map(_.map(_.definition)) == Seq(Seq(0), Seq(1), Seq(2), Seq(0), Seq(0)))
  }

  test("memory has a limit") {
    val column = columns("required numbers")
    val rows = Seq.fill(100)(Seq(Level(0, 0, Some(plain(1L)))))
    val held = new HeldColumn(column, mostBytes = 2399)
    val chunk = Chunk(Seq(rows), ofIds = Set.empty)
    held.append(new DrawnPages(column, chunk), LevelMap.identity(column))
    assert(held.bytes == 1200)
    intercept[TooLarge](held.append(new DrawnPages(column, chunk), LevelMap.identity(column)))
  }
}

private object GatheredPagesSuite {

  final case class Level(repetition: Int, definition: Int, value: Option[Array[Byte]]) {
    override def equals(other: Any): Boolean = other match {
      case level: Level => level.toString == toString
      case _ => false
    }
    override def hashCode: Int = toString.hashCode
    override def toString: String = s"$repetition/$definition/${value.map(_.toSeq)}"
  }

  type Row = Seq[Level]

  /** @param ofIds the pages that hold ids of the chunk's dictionary */
  final case class Chunk(pages: Seq[Seq[Row]], ofIds: Set[Int])

  val columns: Map[String, ColumnDescriptor] = Map(
    "required numbers" -> "required int64 a;",
    "optional numbers" -> "optional int64 a;",
    "optional texts" -> "optional binary a (STRING);",
    "texts in optional structs" -> "optional group s { optional binary a (STRING); }",
    "list of required numbers" ->
      "optional group a (LIST) { repeated group list { required int64 element; } }",
    "list of optional texts" ->
      "optional group a (LIST) { repeated group list { optional binary element (STRING); } }"
  ).map { case (name, field) =>
    name -> MessageTypeParser.parseMessageType(s"message m { $field }").getColumns.get(0)
  }

  private def value(column: ColumnDescriptor): Gen[Array[Byte]] =
    if (ValueShape.of(column.getPrimitiveType).isVariable)
      Gen.oneOf("", "a", "ü", "a long text", "b").map { text =>
        val bytes = text.getBytes(UTF_8)
        plain(bytes.length) ++ bytes
      }
    else Gen.choose(-3L, 3L).map(plain(_: Long))

  private def level(column: ColumnDescriptor, repetition: Int, least: Int): Gen[Level] = for {
    definition <- Gen.choose(least, column.getMaxDefinitionLevel)
    bytes <- value(column)
  } yield Level(repetition, definition, Option.when(definition == column.getMaxDefinitionLevel)(bytes))

  private def row(column: ColumnDescriptor): Gen[Row] =
    level(column, 0, 0).flatMap { first =>
      // The definition level of an element of a list that is there.
      if (column.getMaxRepetitionLevel == 0 || first.definition < 2) Gen.const(Seq(first))
      else Gen.choose(0, 3).flatMap(more => Gen.listOfN(more, level(column, 1, 2)).map(first +: _))
    }

  private def chunk(column: ColumnDescriptor): Gen[Chunk] = for {
    pages <- Gen.listOf(Gen.nonEmptyListOf(row(column)))
    ofIds <- Gen.someOf(pages.indices)
  } yield Chunk(pages, ofIds.toSet)

  def chunks(column: ColumnDescriptor): Gen[Seq[Chunk]] =
    Gen.choose(0, 4).flatMap(Gen.listOfN(_, chunk(column)))

  /** The levels and values of rows. */
  def read(pages: RowPages): Seq[Row] = {
    val rows = Seq.newBuilder[Row]
    while (pages.next()) {
      val page = pages.page
      var value = 0
      val levels = (0 until page.levels).map { i =>
        val isDefined = page.definition(i) == page.maxDefinition
        val bytes = Option.when(isDefined) {
          val id = if (page.isDictionaryEncoded) page.ids(value) else value
          val source = page.plainValues
          source.array.slice(source.start(id), source.start(id + 1))
        }
        if (isDefined) value += 1
        Level(page.repetition(i), page.definition(i), bytes)
      }
      assert(value == page.nonNull)
      val starts = levels.indices.filter(levels(_).repetition == 0)
      rows ++= starts.zip(starts.drop(1) :+ levels.size).map { case (from, to) => levels.slice(from, to) }
    }
    rows.result()
  }

  /** Pages as a file would have them. */
  final class DrawnPages(override val column: ColumnDescriptor, chunk: Chunk) extends RowPages with PageData {
    private val shape = ValueShape.of(column.getPrimitiveType)
    private var at = -1
    private val distinct = chunk.pages.flatten.flatten.flatMap(_.value).map(_.toSeq).distinct

    private def valuesOf(encoded: Seq[Seq[Byte]]): Values =
      new Values().set(shape, encoded.flatten.toArray, 0, encoded.map(_.size).sum, encoded.size)

    private def found = chunk.pages(at).flatten.flatMap(_.value).map(_.toSeq)
    private def levelsOf(of: Level => Int): LevelBuffer = {
      val buffer = new LevelBuffer
      chunk.pages(at).flatten.foreach(level => buffer.add(of(level)))
      buffer
    }

    override def next(): Boolean = {
      at += 1
      at < chunk.pages.size
    }
    override def page: PageData = this
    override def firstRow: Long = chunk.pages.take(at).map(_.size).sum.toLong
    override def rows: Long = firstRow + chunk.pages(at).size
    override def isWhole: Boolean = true
    override def repetition: LevelBuffer = levelsOf(_.repetition)
    override def definition: LevelBuffer = levelsOf(_.definition)
    override def levels: Int = chunk.pages(at).map(_.size).sum
    override def nonNull: Int = found.size
    override def isDictionaryEncoded: Boolean = found.nonEmpty && chunk.ofIds(at)
    override def values: Values = valuesOf(if (isDictionaryEncoded) Nil else found)
    override def ids: Array[Int] = found.map(distinct.indexOf(_)).toArray
    override val dictionary: Option[Values] = Option.when(chunk.ofIds.nonEmpty)(valuesOf(distinct))
  }
}
