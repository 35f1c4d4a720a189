package io.deltaupkeep.parquet.footer

import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
import org.apache.parquet.schema.Types
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class WrittenBySuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val double = Types.required(PrimitiveTypeName.DOUBLE).named("d")

  test("bounds of floats count only from writers that do not leave NaN out") {
    val cases = Table(
      ("writer", "boundsAll"),
      ("parquet-mr version 1.8.3 (build abc)", false),
      ("parquet-mr version 1.10.0 (build abc)", true),
      ("parquet-mr version 1.17.1 (build abc)", true),
      ("parquet-mr version 1.18.0 (build abc)", false),
      ("parquet-mr", false),
      ("parquet-cpp-arrow version 20.0.0", false),
      ("DuckDB version v1.4.0 (build abc)", false),
      ("", false)
    )
    forAll(cases)((writer, all) => assert(new WrittenBy(writer).boundsAll(double) == all))
  }
}
