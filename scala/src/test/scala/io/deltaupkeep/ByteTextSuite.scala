package io.deltaupkeep

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class ByteTextSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  test("sizes are written with the unit that fits") {
    val cases = Table(
      ("bytes", "text"),
      (0L, "0 B"),
      (1023L, "1023 B"),
      (1024L, "1.0 KiB"),
      (1536L, "1.5 KiB"),
      (1L << 30, "1.0 GiB"),
      (Long.MaxValue, "8.0 EiB")
    )
    forAll(cases)((bytes, text) => assert(ByteText.of(bytes) == text))
  }
}
