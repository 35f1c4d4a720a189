package io.deltaupkeep.parquet.footer

import org.apache.parquet.schema.{LogicalTypeAnnotation, Types}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName
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

  test("bounds of strings count only from writers that compare them right") {
    val text = Types.required(PrimitiveTypeName.BINARY).as(LogicalTypeAnnotation.stringType).named("s")
    val cases = Table(
      ("writer", "boundsAll"),
      ("parquet-mr version 1.17.1 (build abc)", true),
      ("parquet-mr compatible Photon version 0.2 (build 1)", true),
      ("parquet-mr-trino version 477 (build n/a)", true),
      ("parquet-cpp-arrow version 20.0.0", true),
      ("DuckDB version v1.4.0 (build abc)", true),
      ("parquet-rs version 5.1.0", false),
      ("parquet-rs version 57.0.0", true),
      ("Polars", false),
      ("Polars (python) version 2.1.0 (build abc)", true),
      ("Arrow2 - Native Rust implementation of Arrow", false),
      ("fastparquet-python version 2026.9.0 (build 111)", false),
      ("", false)
    )
    forAll(cases)((writer, all) => assert(new WrittenBy(writer).boundsAll(text) == all))
    val int = Types.required(PrimitiveTypeName.INT64).named("i")
    assert(!new WrittenBy("fastparquet-python version 2026.9.0 (build 111)").boundsAll(int))
    assert(new WrittenBy("Polars").boundsAll(int))
  }

  test("only parquet-java counts a null struct as nulls of its fields") {
    assert(new WrittenBy("parquet-mr version 1.17.1 (build abc)").countsNullParents)
    assert(!new WrittenBy("parquet-mr compatible Photon version 0.2 (build 1)").countsNullParents)
  }
}
