package org.apache.spark.sql.delta.upkeep.state

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import org.apache.spark.unsafe.types.UTF8String

class KeySetProperties extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val names = Gen.oneOf(Gen.alphaNumStr, Gen.choose(0, 50).map(n => s"part-$n"), Gen.const(""))

  test("a key is new once, as in a set of strings") {
    forAll(Gen.listOf(names), Gen.listOf(names)) { (added, asked) =>
      val keys = new KeySet
      val strings = scala.collection.mutable.Set.empty[String]
      added.foreach(name => assert(keys.add(UTF8String.fromString(name)) == strings.add(name)))
      (added ++ asked).foreach(name => assert(keys.contains(UTF8String.fromString(name)) == strings(name)))
    }
  }

  test("keys are found after the set has grown, and by bytes in the middle of others") {
    val keys = new KeySet
    val count = 100000
    def key(n: Int) = UTF8String.fromString(s"date=2026-01-01/part-$n")
    assert((0 until count).forall(n => keys.add(key(n))))
    assert((0 until count).forall(n => !keys.add(key(n)) && keys.contains(key(n))))
    assert((count until 2 * count).forall(n => !keys.contains(key(n))))
    val within = s"...date=2026-01-01/part-7...".getBytes
    assert(keys.contains(UTF8String.fromBytes(within, 3, within.length - 6)))
  }
}
