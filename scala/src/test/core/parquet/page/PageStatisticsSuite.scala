package io.deltaupkeep.parquet.page

import io.deltaupkeep.parquet.DrawnValues
import io.deltaupkeep.parquet.PlainBytes._

import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.format.converter.ParquetMetadataConverter
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{ColumnOrder, LogicalTypeAnnotation => Logical, PrimitiveType, Types}
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit.{MICROS, MILLIS, NANOS}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.parquet.schema.Type.Repetition.OPTIONAL
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite

/** Statistics of a page are those that parquet-java's collectors find, value by value. */
class PageStatisticsSuite extends AnyFunSuite with DrawnValues {
  import PageStatisticsSuite._

  for (column <- columns) test(s"pages one after the other have parquet-java's statistics: ${column.name}") {
    val ours = PageStatistics(column.primitive)
    forDrawn(Gen.zip(Gen.listOf(column.values), Gen.choose(1, 5), Gen.choose(0L, 3L))) {
      case (values, pieces, nulls) =>
        ours.clear()
        values.grouped(math.max(1, values.size / pieces)).foreach(addTo(ours, column, _))
        check(column, ours.result(nulls), values, nulls)
    }
  }

  test("a page of nulls, and one of nothing") {
    columns.foreach { column =>
      val ours = PageStatistics(column.primitive)
      Seq(3L, 0L).foreach { nulls =>
        ours.clear()
        addTo(ours, column, Nil)
        check(column, ours.result(nulls), Nil, nulls)
      }
    }
  }

  test("values with an order of their own") {
    val nan = Double.NaN
    val cases = Seq(
      (of("double"), Seq(nan, 1.0, 2.0).map(bitsOf)),
      (of("double"), Seq(1.0, nan).map(bitsOf)),
      (of("double"), Seq(nan, nan).map(bitsOf)),
      (of("double"), Seq(0x7ff8000000000001L, 0xfff8000000000000L).map(plain(_))),
      (of("double"), Seq(0.0, 0.0).map(bitsOf)),
      (of("double"), Seq(-0.0, -0.0).map(bitsOf)),
      (of("double"), Seq(-0.0, 0.0).map(bitsOf)),
      (of("float"), Seq(0x7fc00000, 0x3f800000).map(plain(_))),
      (of("float"), Seq(0x80000000, 0x80000000).map(plain(_))),
      (of("float"), Seq(0, 0).map(plain(_))),
      (of("float16"), Seq(0x7e00, 0x3c00).map(short)),
      (of("float16"), Seq(0x8000, 0x0000).map(short)),
      (of("uint32"), Seq(-1, 1, Int.MinValue, Int.MaxValue).map(plain(_))),
      (of("int32"), Seq(-1, 1, Int.MinValue, Int.MaxValue).map(plain(_))),
      (of("uint64"), Seq(-1L, 1L, Long.MinValue, Long.MaxValue).map(plain(_))),
      (of("int64"), Seq(-1L, 1L, Long.MinValue, Long.MaxValue).map(plain(_))),
      (of("decimal in fixed"), Seq("00" * 8, "ff" * 8, "80" + "00" * 7, "7f" + "ff" * 7).map(hex)),
      (of("decimal in binary"), Seq("01", "ff", "0001", "ffff", "80", "7fff").map(text)),
      (of("string"), Seq("7f", "80", "c3bc", "f09f9880", "efbfbf", "").map(text)),
      (of("string"), Seq("", "00", "0000").map(text)),
      (of("binary"), Seq("0102030405060708", "010203040506070800", "01020304050607").map(text)),
      (of("binary"), Seq("01020304050607ff", "01020304050607ffff", "01020304050607fe").map(text)),
      (of("int96"), Seq("00" * 12, "ff" * 12).map(hex)),
      (of("boolean"), Seq("01", "01").map(hex)),
      (of("boolean"), Seq("00", "01").map(hex))
    )
    forRows(cases) { case (column, values) =>
      Seq(values, values.reverse).foreach { ordered =>
        val ours = PageStatistics(column.primitive)
        addTo(ours, column, ordered)
        check(column, ours.result(1), ordered, 1)
      }
    }
  }

  test("what has no order that the format defines has no bounds") {
    val undefined = Types.primitive(INT32, OPTIONAL).columnOrder(ColumnOrder.undefined()).named("x")
    forRows(Seq(of("int96").primitive, of("interval").primitive, undefined)) { primitive =>
      val ours = PageStatistics(primitive)
      ours.add(new Array[Byte](24), 0, 24)
      assert(!ours.result(1).hasNonNullValue)
    }
  }

  test("statistics keep their values when the page's memory is used again") {
    Seq("string", "binary", "fixed", "decimal in binary").map(of).foreach { column =>
      forDrawn(Gen.nonEmptyListOf(column.values)) { values =>
        val ours = PageStatistics(column.primitive)
        val bytes = values.flatten.toArray
        ours.add(bytes, 0, bytes.length)
        val found = ours.result(0)
        java.util.Arrays.fill(bytes, 42.toByte)
        ours.clear()
        check(column, found, values, 0)
      }
    }
  }

  private def addTo(ours: PageStatistics, column: Column, values: Seq[Array[Byte]]): Unit = {
    val bytes = Array[Byte](1, -1, 1) ++ values.flatten ++ Array[Byte](-1, 1)
    ours.add(bytes, 3, bytes.length - 2)
  }

  private def check(column: Column, ours: Statistics[_], values: Seq[Array[Byte]], nulls: Long): Unit = {
    val theirs: Statistics[_] = Statistics.createStats(column.primitive)
    values.foreach(column.tell(theirs, _))
    theirs.incrementNumNulls(nulls)
    assert(ours.getNumNulls == nulls)
    if (column.isOrdered) {
      assert(ours == theirs && ours.hasNonNullValue == theirs.hasNonNullValue)
      // As a file has them: whole, and bounds cut to a length.
      Seq(Int.MaxValue, 5, 1).foreach { length =>
        assert(
          ParquetMetadataConverter.toParquetStatistics(ours, length) ==
            ParquetMetadataConverter.toParquetStatistics(theirs, length)
        )
      }
    } else assert(!ours.hasNonNullValue)
    ()
  }
}

object PageStatisticsSuite {

  /** A column, its values by their PLAIN bytes, and how parquet-java is told one. */
  private final case class Column(
      name: String,
      primitive: PrimitiveType,
      values: Gen[Array[Byte]],
      tell: (Statistics[_], Array[Byte]) => Unit
  ) {
    val isOrdered: Boolean =
      primitive.columnOrder.getColumnOrderName == ColumnOrder.ColumnOrderName.TYPE_DEFINED_ORDER
  }

  private def bitsOf(value: Double): Array[Byte] = plain(java.lang.Double.doubleToRawLongBits(value))
  private def short(bits: Int): Array[Byte] = plain(bits).take(2)
  private def hex(digits: String): Array[Byte] =
    digits.grouped(2).map(Integer.parseInt(_, 16).toByte).toArray
  private def text(digits: String): Array[Byte] = plain(digits.length / 2) ++ hex(digits)

  private val edges = Gen.oneOf(0L, 1L, -1L, 127L, 128L, -128L, 255L, 1L << 31, Long.MinValue, Long.MaxValue)
  private val ints = Gen.oneOf(edges.map(_.toInt), Gen.choose(Int.MinValue, Int.MaxValue)).map(plain(_))
  private val longs = Gen.oneOf(edges, Gen.choose(Long.MinValue, Long.MaxValue)).map(plain(_))
  private val reals = Gen.oneOf(
    Gen.choose(-3.0, 3.0),
    Gen.oneOf(
      0.0,
      -0.0,
      Double.NaN,
      Double.NegativeInfinity,
      Double.PositiveInfinity,
      Double.MinPositiveValue
    )
  )
  private val doubles = reals.map(bitsOf)
  private val floats = reals.map(value => plain(java.lang.Float.floatToRawIntBits(value.toFloat)))
  private val bytes = Gen.oneOf(Seq[Byte](0, 1, 127, -128, -1, 97))
  private def fixed(width: Int): Gen[Array[Byte]] = Gen.listOfN(width, bytes).map(_.toArray)

  /** Many begin alike, for the first eight bytes are compared first. */
  private val binaries = for {
    prefix <- Gen.oneOf("", "same bytes", "same by")
    length <- Gen.choose(0, 12)
    rest <- fixed(length)
  } yield plain(prefix.length + length) ++ prefix.getBytes ++ rest

  private def ints(name: String, annotation: Logical): Column = Column(
    name,
    Types.primitive(INT32, OPTIONAL).as(annotation).named("x"),
    ints,
    (theirs, value) => theirs.updateStats(intOf(value))
  )

  private def longs(name: String, annotation: Logical): Column = Column(
    name,
    Types.primitive(INT64, OPTIONAL).as(annotation).named("x"),
    longs,
    (theirs, value) => theirs.updateStats(longOf(value))
  )

  private def binaries(name: String, annotation: Logical): Column = Column(
    name,
    Types.primitive(BINARY, OPTIONAL).as(annotation).named("x"),
    binaries,
    (theirs, value) => theirs.updateStats(Binary.fromConstantByteArray(value.drop(4)))
  )

  private def fixed(name: String, width: Int, annotation: Logical): Column = Column(
    name,
    Types.primitive(FIXED_LEN_BYTE_ARRAY, OPTIONAL).length(width).as(annotation).named("x"),
    fixed(width),
    (theirs, value) => theirs.updateStats(Binary.fromConstantByteArray(value))
  )

  private val columns: Seq[Column] = Seq(
    ints("int32", null),
    ints("int8", Logical.intType(8, true)),
    ints("uint8", Logical.intType(8, false)),
    ints("uint32", Logical.intType(32, false)),
    ints("date", Logical.dateType()),
    ints("time", Logical.timeType(true, MILLIS)),
    ints("decimal in int32", Logical.decimalType(2, 9)),
    longs("int64", null),
    longs("uint64", Logical.intType(64, false)),
    longs("timestamp", Logical.timestampType(true, MICROS)),
    longs("time of a day", Logical.timeType(false, NANOS)),
    longs("decimal in int64", Logical.decimalType(2, 18)),
    Column(
      "double",
      Types.primitive(DOUBLE, OPTIONAL).named("x"),
      doubles,
      (theirs, value) => theirs.updateStats(java.lang.Double.longBitsToDouble(longOf(value)))
    ),
    Column(
      "float",
      Types.primitive(FLOAT, OPTIONAL).named("x"),
      floats,
      (theirs, value) => theirs.updateStats(java.lang.Float.intBitsToFloat(intOf(value)))
    ),
    Column(
      "boolean",
      Types.primitive(BOOLEAN, OPTIONAL).named("x"),
      Gen.oneOf(Seq[Byte](0, 1)).map(Array(_)),
      (theirs, value) => theirs.updateStats(value.head != 0)
    ),
    Column(
      "int96",
      Types.primitive(INT96, OPTIONAL).named("x"),
      fixed(12),
      (theirs, value) => theirs.updateStats(Binary.fromConstantByteArray(value))
    ),
    binaries("binary", null),
    binaries("string", Logical.stringType()),
    binaries("enum", Logical.enumType()),
    binaries("json", Logical.jsonType()),
    binaries("decimal in binary", Logical.decimalType(2, 30)),
    fixed("fixed", 10, null),
    fixed("uuid", 16, Logical.uuidType()),
    fixed("float16", 2, Logical.float16Type()),
    fixed("decimal in fixed", 8, Logical.decimalType(2, 18)),
    fixed("interval", 12, Logical.IntervalLogicalTypeAnnotation.getInstance())
  )

  private def of(name: String): Column = columns.find(_.name == name).get
}
