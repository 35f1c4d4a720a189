package io.deltaupkeep.parquet.footer

import org.apache.parquet.schema.MessageTypeParser
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class FormatPathsSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  test("leaves of lists and maps have the names of the format, whatever their file calls them") {
    val cases = Table(
      ("column", "paths"),
      ("optional group s { optional int32 a; required group t { optional int32 b; } }", "s.a s.t.b"),
      ("optional group l (LIST) { repeated group list { optional int32 element; } }", "l.list.element"),
      ("optional group l (LIST) { repeated group bag { optional int32 array_element; } }", "l.list.element"),
      (
        "optional group l (LIST) { repeated group list { optional group element { optional int32 list; } } }",
        "l.list.element.list"
      ),
      // Of two levels
      ("optional group l (LIST) { repeated int32 array; }", "l.list.element"),
      (
        "optional group l (LIST) { repeated group array { optional group b { optional int32 c; } } }",
        "l.list.element.b.c"
      ),
      (
        "optional group l (LIST) { repeated group l_tuple { optional int32 c; } }",
        "l.list.element.c"
      ),
      (
        "optional group l (LIST) { repeated group element { optional int32 a; optional int32 b; } }",
        "l.list.element.a l.list.element.b"
      ),
      ("repeated group r { optional int32 a; }", "r.list.element.a"),
      (
        "optional group l (LIST) { repeated group bag { optional group x (LIST) { " +
          "repeated group array { optional int32 b; } } } }",
        "l.list.element.list.element.b"
      ),
      (
        "optional group m (MAP) { repeated group map { required int32 value; optional int32 key; } }",
        "m.key_value.key m.key_value.value"
      ),
      (
        "optional group m (MAP_KEY_VALUE) { repeated group map { required int32 str; " +
          "optional group num (LIST) { repeated group bag { optional int32 x; } } } }",
        "m.key_value.key m.key_value.value.list.element"
      )
    )
    forAll(cases) { (column, paths) =>
      val schema = MessageTypeParser.parseMessageType(s"message m { $column }")
      assert(FormatPaths.of(schema).map(_.mkString(".")).mkString(" ") == paths)
    }
  }
}
