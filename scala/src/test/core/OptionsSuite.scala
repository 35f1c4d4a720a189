package io.deltaupkeep

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class OptionsSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val size = OptionEntry.bytes("size", "")
  private val count = OptionEntry.positive("count", "")
  private val share = OptionEntry.ratio("share", "")
  private val word = OptionEntry.oneOf("word", "")("one" -> 1, "two" -> 2)
  private val known = Seq(size, count, share, word)

  private def options(pairs: (String, String)*): Options = new Options("TEST", pairs, known)

  test("values are read by their entry, names and words in any case") {
    assert(options("SIZE" -> "128m").get(size).contains(134217728L))
    assert(options("size" -> "5").get(size).contains(5L))
    assert(options("Count" -> " 7 ").get(count).contains(7L))
    assert(options("share" -> "0.5").get(share).contains(0.5))
    assert(options("word" -> "TWO").get(word).contains(2))
    assert(options().get(word).isEmpty)
  }

  test("an ill value is an error that says what is expected") {
    val cases = Table(
      ("entry", "value"),
      (size, "much"),
      (size, "0"),
      (size, "-5"),
      (count, "1.5"),
      (count, "0"),
      (share, "2"),
      (share, "NaN"),
      (word, "three"),
      (word, "")
    )
    forAll(cases) { (entry, value) =>
      val e = intercept[UpkeepException](options(entry.name -> value).get(entry))
      assert(e.getCondition == "DELTA_UPKEEP.INVALID_OPTION")
      assert(e.getMessage.contains(entry.expected))
    }
  }

  test("an unknown option is an error that lists the known ones") {
    val e = intercept[UpkeepException](options("sise" -> "1"))
    assert(e.getCondition == "DELTA_UPKEEP.UNKNOWN_OPTION")
    assert(e.getMessage.contains("size, count, share, word"))
  }

  test("an option stands once") {
    val e = intercept[UpkeepException](options("size" -> "1", "SIZE" -> "2"))
    assert(e.getCondition == "DELTA_UPKEEP.DUPLICATE_OPTION")
  }
}
