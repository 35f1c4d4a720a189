package io.deltaupkeep.parquet.chunk

import java.math.{BigDecimal => JavaDecimal, BigInteger}
import java.nio.file.Path
import java.time.{LocalDate, LocalDateTime, ZoneOffset}
import java.util.BitSet

import io.deltaupkeep.parquet.{LocalFiles, SplicedFiles}
import io.deltaupkeep.parquet.file.SpliceOutcome
import io.deltaupkeep.parquet.footer.{InputRows, RowSelection}
import io.deltaupkeep.parquet.plan.ChunkTier

import org.apache.parquet.example.data.Group
import org.apache.parquet.example.data.simple.{NanoTime, SimpleGroupFactory}
import org.apache.parquet.hadoop.example.ExampleParquetWriter
import org.apache.parquet.io.InputFile
import org.apache.parquet.io.api.Binary
import org.apache.parquet.schema.{MessageType, MessageTypeParser, PrimitiveType}
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.scalatest.funsuite.AnyFunSuite

/** Columns that files store in different types: their values become those of the output's type, or are refused. */
class ConvertedValuesSuite extends AnyFunSuite with SplicedFiles {

  private val micros = "int64 c (TIMESTAMP(MICROS,true))"
  private val localMicros = "int64 c (TIMESTAMP(MICROS,false))"

  /** A type of a file, the table's, and values in the form of the file. */
  private val conversions: Seq[(String, String, Seq[Any])] = Seq(
    ("int32 c", "int64 c", Seq(0, 1, -1, Int.MinValue, Int.MaxValue)),
    ("int32 c (INTEGER(8,true))", "int64 c", Seq(-128, 127)),
    ("int32 c (INTEGER(16,true))", "double c", Seq(-32768, 32767)),
    ("int32 c", "double c", Seq(Int.MinValue, 16777217)),
    ("float c", "double c", Seq(1.1f, -0.0f, Float.NaN, Float.NegativeInfinity, Float.MinPositiveValue)),
    ("int32 c", "int32 c (DECIMAL(9,2))", Seq(1234567, -1)),
    ("int32 c", "int64 c (DECIMAL(12,2))", Seq(Int.MinValue, 7)),
    ("int64 c", "fixed_len_byte_array(9) c (DECIMAL(20,0))", Seq(Long.MinValue, Long.MaxValue, -1L)),
    ("int64 c", "binary c (DECIMAL(23,3))", Seq(Long.MinValue, 0L)),
    ("int32 c (DECIMAL(5,2))", "int64 c (DECIMAL(12,4))", Seq(-99999, 99999)),
    (
      "int64 c (DECIMAL(18,0))",
      "fixed_len_byte_array(16) c (DECIMAL(38,10))",
      Seq(-(BigInteger.TEN.pow(18).longValue - 1))
    ),
    ("int64 c (DECIMAL(9,2))", "int32 c (DECIMAL(9,2))", Seq(-999999999L, 5L)),
    ("fixed_len_byte_array(16) c (DECIMAL(9,2))", "int32 c (DECIMAL(9,2))", Seq(-999999999, 255)),
    ("binary c (DECIMAL(30,2))", "fixed_len_byte_array(13) c (DECIMAL(30,2))", Seq(-1, 128)),
    ("fixed_len_byte_array(13) c (DECIMAL(30,2))", "binary c (DECIMAL(30,2))", Seq(-129, 1)),
    ("int32 c (DATE)", localMicros, Seq(0, -719162, 2932896)),
    ("int64 c (TIMESTAMP(MILLIS,true))", micros, Seq(-1L, 1700000000123L)),
    ("int64 c (TIMESTAMP(MILLIS,false))", localMicros, Seq(-1L, 1700000000123L)),
    (micros, "int64 c (TIMESTAMP(MILLIS,true))", Seq(-1000L, 1700000000123000L)),
    ("int96 c", micros, Seq(new NanoTime(2440588, 1000L), new NanoTime(2440587, 86399999999000L))),
    (micros, "int96 c", Seq(-1L, 0L, 1700000000123456L))
  )

  for ((from, to, values) <- conversions; encoding <- Seq("dictionary", "plain"))
    test(s"$from becomes $to, $encoding") {
      withDirectory { directory =>
        val isDictionary = encoding == "dictionary"
        val old =
          write(directory.resolve("old"), from, (0 until 40).map(i => values(i % values.size)), isDictionary)
        val rest = write(directory.resolve("new"), to, Nil, isDictionary)
        val out = directory.resolve("out")
        // The first file decides how timestamps and decimals are stored.
        val outcome = done(splice(Seq(rest, old), out, table = schemaOf(to)))
        assert(outcome.tier == ChunkTier.Transcode, outcome.reason)
        val before = valuesOf(directory.resolve("old"), schemaOf(from))
        assert(valuesOf(out, schemaOf(to)).map(meaning(to, _)) == before.map(meaning(from, _)))
        assert(before.size == 80 && before.count(_ == null) == 40)
      }
    }

  /** Values that the other type cannot hold, and types of which one is not the other. */
  private val refusals: Seq[(String, String, Any, String)] = Seq(
    (micros, "int64 c (TIMESTAMP(MILLIS,true))", 1700000000123456L, "finer"),
    ("int96 c", micros, new NanoTime(2440588, 1L), "finer"),
    ("int64 c (TIMESTAMP(MILLIS,true))", micros, Long.MaxValue, "too large"),
    ("int64 c (DECIMAL(9,2))", "int32 c (DECIMAL(9,2))", 1000000000L, "more digits"),
    ("int32 c", "int32 c (DECIMAL(9,2))", Int.MaxValue, "more digits"),
    ("binary c (DECIMAL(9,2))", "int32 c (DECIMAL(9,2))", Long.MaxValue, "more digits"),
    ("int64 c", "int32 c", 1L, "in a file"),
    ("int64 c", "double c", 1L, "in a file"),
    ("double c", "float c", 1.0, "in a file"),
    ("int32 c (DECIMAL(9,2))", "int32 c (DECIMAL(9,1))", 1, "in a file"),
    ("int32 c (DECIMAL(9,2))", "int64 c (DECIMAL(10,4))", 1, "in a file"),
    ("int32 c (DATE)", micros, 1, "in a file"),
    ("int32 c (INTEGER(32,false))", "int64 c", 1, "in a file"),
    ("int64 c (TIMESTAMP(NANOS,true))", micros, 1000L, "in a file"),
    (micros, localMicros, 1L, "in a file")
  )

  for ((from, to, value, why) <- refusals)
    test(s"$value of $from does not become $to") {
      withDirectory { directory =>
        val old = write(directory.resolve("old"), from, Seq(value), dictionary = true)
        val rest = write(directory.resolve("new"), to, Nil, dictionary = true)
        val refused = splice(Seq(rest, old), directory.resolve("out"), table = schemaOf(to)) match {
          case SpliceOutcome.Refused(inputs) => inputs
          case done: SpliceOutcome.Done => done.refused
        }
        assert(refused(1).reason.contains(why))
      }
    }

  test("Rows of converted columns can be left out, lists among them") {
    withDirectory { directory =>
      val of = (kind: String) =>
        MessageTypeParser.parseMessageType(
          s"message m { optional $kind c; optional group l (LIST) { repeated group list { optional $kind element; } } }"
        )
      val factory = new SimpleGroupFactory(of("int32"))
      def group(i: Int): Group = {
        val row = factory.newGroup()
        if (i % 3 != 0) row.append("c", i % 11)
        val list = row.addGroup("l")
        for (j <- 0 until i % 4) {
          val element = list.addGroup("list")
          if (j != 1) element.append("element", i * j)
        }
        row
      }
      val rows = (0 until 3000).map(group)
      val old = write(directory.resolve("old"), of("int32"), rows, dictionary = true)
      val gone = new BitSet
      Seq(0, 5, 6, 2047, 2999).foreach(gone.set)
      val kept = rows.indices.filterNot(gone.get).map(rows(_).toString)
      val out = directory.resolve("out")
      done(spliceRows(
        Seq(InputRows(old, Some(() => new RowSelection(gone)), 0L, Map.empty)),
        out,
        table = of("int64")
      ))
      assert(rowsOf(out) == kept)
    }
  }

  private def schemaOf(column: String): MessageType =
    MessageTypeParser.parseMessageType(s"message m { optional $column; }")

  private def typeOf(schema: MessageType): PrimitiveType = schema.getFields.get(0).asPrimitiveType

  private def write(file: Path, column: String, values: Seq[Any], dictionary: Boolean): InputFile = {
    val schema = schemaOf(column)
    val factory = new SimpleGroupFactory(schema)
    val primitive = typeOf(schema)
    val rows = values.flatMap { value =>
      val row = factory.newGroup()
      append(row, primitive, value)
      Seq(row, factory.newGroup())
    }
    write(file, schema, rows, dictionary)
  }

  private def write(file: Path, schema: MessageType, rows: Seq[Group], dictionary: Boolean): InputFile = {
    val writer = ExampleParquetWriter.builder(LocalFiles.output(file)).withType(schema)
      .withDictionaryEncoding(dictionary).withPageSize(1 << 10).build()
    try rows.foreach(writer.write)
    finally writer.close()
    named(file)
  }

  private def append(row: Group, primitive: PrimitiveType, value: Any): Unit = value match {
    case nanos: NanoTime => row.add("c", nanos)
    case float: Float => row.add("c", float)
    case double: Double => row.add("c", double)
    case number: Number =>
      primitive.getPrimitiveTypeName match {
        case INT32 => row.add("c", number.intValue)
        case INT64 => row.add("c", number.longValue)
        case BINARY =>
          row.add("c", Binary.fromConstantByteArray(BigInteger.valueOf(number.longValue).toByteArray))
        case _ =>
          val bytes = BigInteger.valueOf(number.longValue).toByteArray
          val fill = Array.fill[Byte](primitive.getTypeLength - bytes.length)(if (bytes(0) < 0) -1 else 0)
          row.add("c", Binary.fromConstantByteArray(fill ++ bytes))
      }
    case other => fail(s"No value of a column: $other")
  }

  /** What parquet-java's reader finds; null for none. */
  private def valuesOf(file: Path, schema: MessageType): Seq[Any] = {
    val name = typeOf(schema).getPrimitiveTypeName
    groupsOf(file).map { row =>
      if (row.getFieldRepetitionCount("c") == 0) null
      else
        name match {
          case INT32 => row.getInteger("c", 0)
          case INT64 => row.getLong("c", 0)
          case FLOAT => row.getFloat("c", 0)
          case DOUBLE => row.getDouble("c", 0)
          case INT96 => NanoTime.fromBinary(row.getInt96("c", 0))
          case _ => row.getBinary("c", 0)
        }
    }
  }

  /** A value by what it stands for. */
  private def meaning(column: String, value: Any): Any = {
    val annotation = typeOf(schemaOf(column)).getLogicalTypeAnnotation
    (annotation, value) match {
      case (_, null) => null
      case (_: DateLogicalTypeAnnotation, days: Int) => LocalDate.ofEpochDay(days.toLong).atStartOfDay
      case (time: TimestampLogicalTypeAnnotation, number: Long) =>
        val perSecond = if (time.getUnit == TimeUnit.MILLIS) 1000L else 1000000L
        val nanos = Math.floorMod(number, perSecond) * (1000000000L / perSecond)
        LocalDateTime.ofEpochSecond(Math.floorDiv(number, perSecond), nanos.toInt, ZoneOffset.UTC)
      case (_, time: NanoTime) =>
        LocalDate.ofEpochDay(time.getJulianDay.toLong - 2440588).atStartOfDay.plusNanos(
          time.getTimeOfDayNanos
        )
      case (decimal: DecimalLogicalTypeAnnotation, bytes: Binary) =>
        new JavaDecimal(new BigInteger(bytes.getBytes), decimal.getScale).stripTrailingZeros
      case (decimal: DecimalLogicalTypeAnnotation, number: Number) =>
        JavaDecimal.valueOf(number.longValue, decimal.getScale).stripTrailingZeros
      case (_, float: Float) => meaning(column, float.toDouble)
      case (_, double: Double) if double.isNaN || double.isInfinite || double == 0 => double.toString
      case (_, double: Double) => new JavaDecimal(double).stripTrailingZeros
      case (_, number: Number) => JavaDecimal.valueOf(number.longValue).stripTrailingZeros
      case (_, other) => fail(s"No value of a column: $other")
    }
  }
}
