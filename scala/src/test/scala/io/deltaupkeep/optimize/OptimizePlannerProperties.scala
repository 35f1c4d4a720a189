package io.deltaupkeep.optimize

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** What holds for any table, and for any history of appends and compactions. */
class OptimizePlannerProperties extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val target = 1L << 20
  private val settings = OptimizeSettings(target, target, maxDeletedRowsRatio = 0.05)

  private def file(number: Int, size: Long, optimized: Boolean): DataFile =
    DataFile(s"f$number", None, size, number.toLong, "", Some(10), 0, Option.when(optimized)(target))

  private val tables: Gen[Seq[DataFile]] = for {
    sizes <- Gen.listOf(Gen.chooseNum(1L, 2 * target))
    optimized <- Gen.listOfN(sizes.size, Gen.oneOf(true, false))
  } yield sizes.zip(optimized).zipWithIndex.map { case ((size, old), i) => file(i, size, old) }

  /** The table after the plan, if no byte is saved. */
  private def after(files: Seq[DataFile], plan: OptimizePlan): Seq[DataFile] = {
    val gone = plan.files.toSet
    val added = plan.bins.zipWithIndex.map { case (bin, i) =>
      file(1000000 + i, bin.sizeInBytes, optimized = true)
    }
    files.filterNot(gone) ++ added
  }

  test("a bin has two files at least, no more than the target, and no giant among crumbs") {
    forAll(tables) { files =>
      OptimizePlanner.compact(files, settings).bins.foreach { bin =>
        val largest = bin.files.map(_.sizeInBytes).max
        assert(bin.files.size >= 2 && bin.sizeInBytes <= target)
        assert((bin.sizeInBytes - largest) * 8 >= largest)
      }
    }
  }

  test("a bounded run keeps its bounds and loses no file from sight") {
    forAll(tables, Gen.chooseNum(1L, 20L), Gen.chooseNum(1L, 2 * target)) { (files, maxFiles, maxBytes) =>
      val bounded = settings.copy(maxFiles = Some(maxFiles), maxBytes = Some(maxBytes))
      val plan = OptimizePlanner.compact(files, bounded)
      assert(plan.files.size <= maxFiles && plan.files.map(_.sizeInBytes).sum <= maxBytes)
      val all = OptimizePlanner.compact(files, settings).files.toSet
      assert((plan.files ++ plan.deferred.flatMap(_.files)).toSet == all)
    }
  }

  test("appends with a compaction after each rewrite a byte a logarithmic number of times") {
    forAll(Gen.chooseNum(10, 400), Gen.chooseNum(1L, 2000L)) { (appends, size) =>
      var files = Seq.empty[DataFile]
      var rewritten = 0L
      (1 to appends).foreach { i =>
        files = files :+ file(i, size, optimized = false)
        val plan = OptimizePlanner.compact(files, settings)
        rewritten += plan.files.map(_.sizeInBytes).sum
        files = after(files, plan)
      }
      val logarithm = 2 + math.log(appends.toDouble) / math.log(2)
      assert(rewritten <= 8 * appends * size * logarithm)
      assert(files.size <= 8 * logarithm)
    }
  }
}
