package org.apache.spark.sql.delta.upkeep.files

import io.deltaupkeep.FileTotal
import io.deltaupkeep.plan.compact.{DataFile, Partition}
import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class FileWindowProperties extends AnyFunSuite with ScalaCheckPropertyChecks {

  private def partition(number: Int) = Partition(Seq(Some(number.toString)))(s"p=$number")

  private val tables = for {
    sizes <- Gen.listOf(Gen.frequency(5 -> Gen.choose(1, 20), 1 -> Gen.choose(50, 300)))
    most <- Gen.choose(1L, 100L)
  } yield (sizes.zipWithIndex.map { case (size, number) => partition(number) -> size }, most)

  private def file(of: Partition, number: Int) =
    DataFile(s"${of.text}/part-$number.parquet", None, number.toLong, 0L, of, None, 0L, None)

  test("each file is in one window, and a window holds no more than it may") {
    forAll(tables) { case (sizes, most) =>
      val totals = sizes.map { case (of, size) => of -> FileTotal.of((0 until size).map(_.toLong)) }
      val windows = FileWindow.of(totals, most)
      assert(windows.map(_.files).foldLeft(FileTotal.none)(_ ++ _) == totals.map(_._2).foldLeft(
        FileTotal.none
      )(_ ++ _))
      assert(windows.forall(_.files.files <= most))
      for ((of, size) <- sizes; number <- 0 until size)
        assert(windows.count(_.has(file(of, number))) == 1)
    }
  }

  test("a partition is divided only if it has too many files, and two small windows are one") {
    forAll(tables) { case (sizes, most) =>
      val windows = FileWindow.of(sizes.map { case (of, size) => of -> FileTotal(size.toLong, 0) }, most)
      sizes.foreach { case (of, size) =>
        val parts = windows.count(_.partitions(of))
        assert(if (size <= most) parts == 1 else parts == (size - 1) / most + 1)
      }
      val whole = windows.filter(_.share.of == 1).map(_.files.files)
      assert(whole.zip(whole.drop(1)).forall { case (one, next) => one + next > most })
    }
  }

  test("all files of a Z-cube are in one part of a partition") {
    val windows = FileWindow.of(Seq(partition(1) -> FileTotal(1000, 1000)), most = 100)
    val homes = (0 until 500).groupBy(_ / 50).values.map { numbers =>
      val files = numbers.map(n => file(partition(1), n).copy(cube = Some(s"cube-${numbers.head}")))
      files.flatMap(one => windows.filter(_.has(one))).distinct
    }
    assert(windows.size == 10 && homes.forall(_.size == 1) && homes.flatten.toSet.size > 1)
  }
}
