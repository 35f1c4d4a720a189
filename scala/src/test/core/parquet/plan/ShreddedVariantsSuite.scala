package io.deltaupkeep.parquet.plan

import org.apache.parquet.schema.{MessageType, MessageTypeParser}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class ShreddedVariantsSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val byName = FieldMatching(byId = false)

  private def message(fields: String): MessageType =
    MessageTypeParser.parseMessageType(s"message m { optional group v { $fields } }")

  private val whole = "required binary value; required binary metadata;"
  private val ints = "required binary metadata; optional binary value; optional int32 typed_value;"
  private val texts = "required binary metadata; optional binary value; optional binary typed_value (STRING);"
  private val noValue = "required binary metadata; optional int32 typed_value;"
  private val more =
    "required binary metadata; optional binary value; optional int32 typed_value; optional int32 x;"
  private val struct = "optional binary value; optional binary metadata;"
  private val structWithMore = "optional binary metadata; optional binary value; optional int32 typed_value;"

  test("no column of a variant is left out") {
    val cases = Table(
      ("table", "first file", "file", "fits"),
      (whole, whole, whole, true),
      (whole, ints, ints, true),
      (whole, ints, whole, true),
      (whole, ints, texts, false),
      (whole, whole, ints, false),
      (whole, ints, noValue, false),
      (whole, noValue, noValue, false),
      (whole, noValue, whole, true),
      (whole, noValue, ints, false),
      (whole, more, more, false),
      (whole, more, whole, true),
      (struct, structWithMore, structWithMore, true)
    )
    forAll(cases) { (table, first, file, fits) =>
      val output = OutputSchema.adopt(message(table), message(first), byName)
      assert(ColumnSources.of(output, message(file), byName).isRight == fits)
    }
  }

  test("a column that a struct no longer has is no variant's") {
    val output = OutputSchema.adopt(message(struct), message(structWithMore), byName)
    assert(!output.containsPath(Array("v", "typed_value")))
  }
}
