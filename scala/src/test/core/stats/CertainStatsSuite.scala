package io.deltaupkeep.stats

import io.deltaupkeep.parquet.footer.{FooterColumns, FooterLeaf, LeafBounds}
import io.deltaupkeep.stats.CertainStats.{Bounds, Facts}

import org.apache.parquet.schema.{LogicalTypeAnnotation, PrimitiveType, Type, Types}
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks._

import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

class CertainStatsSuite extends AnyFunSuite {

  private def primitive(
      name: PrimitiveTypeName,
      annotation: Option[LogicalTypeAnnotation] = None,
      length: Int = 0
  ): PrimitiveType =
    Types.primitive(name, Type.Repetition.OPTIONAL).length(length).as(annotation.orNull).named("c")

  private def numbers(min: BigDecimal, max: BigDecimal) = Some(LeafBounds.Numbers(min, max))

  private def leaf(
      stored: PrimitiveType,
      bounds: Option[LeafBounds],
      nulls: Option[Long] = Some(1),
      path: Seq[String] = Seq("c"),
      isRepeated: Boolean = false,
      values: Long = 10
  ) = FooterLeaf(path, stored, isRepeated, values, nulls, bounds)

  private def found(
      dataType: DataType,
      leaves: Seq[FooterLeaf],
      column: Seq[String] = Seq("c"),
      defaults: Set[String] = Set.empty
  ): Option[Facts] = {
    val of =
      new CertainStats(new StructType().add("c", dataType), Seq(column), defaults).of(new FooterColumns(
        10,
        leaves
      ))
    assert(of.uncertain == (if (of.columns.isEmpty) Set(column) else Set.empty))
    of.columns.get(column)
  }

  private val int = primitive(INT32)
  private val day = primitive(INT32, Some(dateType))
  private val micros = primitive(INT64, Some(timestampType(true, TimeUnit.MICROS)))
  private val local = primitive(INT64, Some(timestampType(false, TimeUnit.MICROS)))
  private val text = primitive(BINARY, Some(stringType))
  private val money = primitive(INT64, Some(decimalType(2, 12)))
  private val cents = BigDecimal("1.50")

  test("bounds of the table's own types are certain") {
    val cases = Table(
      ("type", "stored", "bounds", "values"),
      (ByteType, int, numbers(-1, 2), Bounds(-1.toByte, 2.toByte)),
      (IntegerType, primitive(INT32, Some(intType(16, true))), numbers(-1, 2), Bounds(-1, 2)),
      (LongType, int, numbers(-1, 2), Bounds(-1L, 2L)),
      (FloatType, primitive(FLOAT), numbers(-1, 2.5), Bounds(-1f, 2.5f)),
      (DoubleType, primitive(DOUBLE), numbers(-1, 2.5), Bounds(-1d, 2.5d)),
      (DateType, day, numbers(-141427, 2), Bounds(-141427, 2)),
      (TimestampType, micros, numbers(-5, 2), Bounds(-5L, 2L)),
      (TimestampNTZType, local, numbers(-5, 2), Bounds(-5L, 2L)),
      (
        DecimalType(12, 2),
        money,
        numbers(cents, cents),
        Bounds(Decimal(cents, 12, 2), Decimal(cents, 12, 2))
      ),
      (
        StringType,
        text,
        Some(LeafBounds.Texts("a".getBytes, "b".getBytes)),
        Bounds(UTF8String.fromString("a"), UTF8String.fromString("b"))
      )
    )
    forAll(cases) { (dataType, stored, bounds, values) =>
      assert(found(dataType, Seq(leaf(stored, bounds))).contains(Facts(1, Some(values))))
    }
  }

  test("other bounds are not, and the rows are read") {
    val cases = Table(
      ("type", "leaf"),
      (IntegerType, leaf(int, None)),
      (IntegerType, leaf(int, numbers(-1, 2), nulls = None)),
      (IntegerType, leaf(int, numbers(-1, 2), isRepeated = true)),
      (IntegerType, leaf(int, numbers(-1, 2), values = 11)),
      (IntegerType, leaf(primitive(INT32, Some(intType(32, false))), numbers(1, 2))),
      (ByteType, leaf(int, numbers(0, 128))),
      (DoubleType, leaf(int, numbers(1, 2))),
      (DoubleType, leaf(primitive(FLOAT), numbers(1, 2))),
      (DateType, leaf(int, numbers(1, 2))),
      (DateType, leaf(day, numbers(-141428, 2))),
      (TimestampType, leaf(local, numbers(1, 2))),
      (TimestampType, leaf(day, numbers(1, 2))),
      (TimestampType, leaf(primitive(INT96), None)),
      (TimestampType, leaf(micros, numbers(BigDecimal("-2208988800000001"), 2))),
      (TimestampNTZType, leaf(micros, numbers(1, 2))),
      (DecimalType(14, 2), leaf(money, numbers(cents, cents))),
      (DecimalType(12, 2), leaf(money, numbers(cents, BigDecimal("12345678901.50")))),
      (DecimalType(12, 3), leaf(money, numbers(cents, cents))),
      (StringType, leaf(primitive(BINARY), None)),
      (StringType, leaf(int, numbers(1, 2))),
      (BooleanType, leaf(int, numbers(0, 1))),
      (ArrayType(IntegerType), leaf(int, numbers(0, 1), path = Seq("c", "list", "element")))
    )
    forAll(cases)((dataType, stored) => assert(found(dataType, Seq(stored)).isEmpty))
  }

  test("types without bounds, and columns without values, need the number of nulls only") {
    assert(found(BooleanType, Seq(leaf(primitive(BOOLEAN), None))).contains(Facts(1, None)))
    assert(found(BinaryType, Seq(leaf(primitive(BINARY), None))).contains(Facts(1, None)))
    assert(found(StringType, Seq(leaf(text, None, nulls = Some(10)))).contains(Facts(10, None)))
  }

  test("a column that a file lacks is null, unless it has a default or may be there in another form") {
    val other = leaf(int, numbers(1, 2), path = Seq("other"))
    assert(found(IntegerType, Seq(other)).contains(Facts(10, None)))
    assert(found(IntegerType, Seq(other), defaults = Set("c")).isEmpty)
    val nested = new StructType().add("a", IntegerType)
    assert(found(nested, Seq(other), column = Seq("c", "a")).contains(Facts(10, None)))
    assert(found(nested, Seq(other.copy(path = Seq("c", "b"))), column = Seq("c", "a")).isEmpty)
  }

  test("a name is found in any case, but not if there are several") {
    val (small, large) = (leaf(int, numbers(1, 2)), leaf(int, numbers(1, 2), path = Seq("C")))
    assert(found(IntegerType, Seq(large)).contains(Facts(1, Some(Bounds(1, 2)))))
    assert(found(IntegerType, Seq(small, large)).isEmpty)
  }
}
