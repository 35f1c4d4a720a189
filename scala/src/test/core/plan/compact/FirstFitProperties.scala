package io.deltaupkeep.plan.compact

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class FirstFitProperties extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val capacity = 100L
  private val sizes = Gen.listOf(Gen.chooseNum(0L, 150L))

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 500)

  private def pack(items: List[Long]): Seq[Seq[Long]] =
    FirstFit.pack(items.zipWithIndex, capacity) { case (size, _) => size }.map(_.map { case (size, _) =>
      size
    })

  test("every item is in one bin") {
    forAll(sizes)(items => assert(pack(items).flatten.sorted == items.sorted))
  }

  test("a bin holds no more than its capacity, or one item that is larger") {
    forAll(sizes)(items => pack(items).foreach(bin => assert(bin.sum <= capacity || bin.count(_ > 0) == 1)))
  }

  test("an item opens a bin only when it fits in none before it") {
    forAll(sizes) { items =>
      val bins = pack(items)
      bins.indices.drop(1).foreach { i =>
        val opener = bins(i).max
        bins.take(i).foreach(bin => assert(bin.filter(_ >= opener).sum + opener > capacity))
      }
    }
  }

  test("numbers are put in order, and equal ones stay as they are") {
    val numbers = Gen.listOf(Gen.oneOf(Gen.chooseNum(-9L, 9L), Gen.chooseNum(0L, 1L << 45), Gen.long))
    forAll(numbers) { some =>
      assert(Ascending.of(some.toArray).toSeq == some.indices.sortBy(some(_)))
    }
  }
}
