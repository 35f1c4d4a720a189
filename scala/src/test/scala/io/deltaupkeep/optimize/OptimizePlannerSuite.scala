package io.deltaupkeep.optimize

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class OptimizePlannerSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val settings = OptimizeSettings(targetFileSize = 100, minFileSize = 100, maxDeletedRowsRatio = 0.05)

  private def file(
      path: String,
      size: Long,
      partition: String = "",
      time: Long = 0,
      rows: Long = 100,
      deleted: Long = 0,
      optimizedFor: Option[Long] = None
  ): DataFile =
    DataFile(path, Option.when(deleted > 0)("dv"), size, time, partition, Some(rows), deleted, optimizedFor)

  private def binsOf(files: DataFile*): Set[Set[String]] =
    OptimizePlanner.compact(files, settings).bins.map(_.files.map(_.path).toSet).toSet

  test("which files are rewritten, and together with which") {
    val cases = Table(
      ("what", "files", "bins"),
      ("no files", Seq.empty, Set.empty[Set[String]]),
      ("one small file", Seq(file("a", 10)), Set.empty[Set[String]]),
      ("two small files", Seq(file("a", 10), file("b", 10)), Set(Set("a", "b"))),
      ("a file of the minimum size stays", Seq(file("a", 100), file("b", 10)), Set.empty[Set[String]]),
      (
        "files that do not fit together stay",
        Seq(file("a", 60), file("b", 60)),
        Set.empty[Set[String]]
      ),
      (
        "partitions are never mixed",
        Seq(file("a", 10, "p=1"), file("b", 10, "p=2"), file("c", 10, "p=1")),
        Set(Set("a", "c"))
      ),
      (
        "the first bin with room takes a file",
        Seq(file("a", 60), file("b", 50), file("c", 40), file("d", 30), file("e", 20)),
        Set(Set("a", "c"), Set("b", "d", "e"))
      ),
      (
        "a lone file heavy with deleted rows",
        Seq(file("a", 500, deleted = 6)),
        Set(Set("a"))
      ),
      (
        "a lone file with few deleted rows",
        Seq(file("a", 500, deleted = 5)),
        Set.empty[Set[String]]
      ),
      (
        "files of an earlier run with this target stay among themselves",
        Seq(file("a", 10, optimizedFor = Some(100)), file("b", 10, optimizedFor = Some(100))),
        Set.empty[Set[String]]
      ),
      (
        "a new file joins files of an earlier run",
        Seq(file("a", 10, optimizedFor = Some(100)), file("b", 10)),
        Set(Set("a", "b"))
      ),
      (
        "files of a run with another target are packed again",
        Seq(file("a", 10, optimizedFor = Some(50)), file("b", 10, optimizedFor = Some(50))),
        Set(Set("a", "b"))
      )
    )
    forAll(cases)((_, files, bins) => assert(binsOf(files: _*) == bins))
  }

  test("a deletion vector of unknown weight is heavy") {
    val unknown = file("a", 500, deleted = 1).copy(physicalRows = None)
    assert(binsOf(unknown) == Set(Set("a")))
  }

  test("files of a bin keep the order in which they were written") {
    val plan = OptimizePlanner.compact(
      Seq(file("a", 30, time = 3), file("b", 20, time = 1), file("c", 10, time = 2)),
      settings
    )
    assert(plan.bins.map(_.files.map(_.path)) == Seq(Seq("b", "c", "a")))
  }

  test("the largest bin comes first") {
    val plan = OptimizePlanner.compact(
      Seq(file("a", 10, "p=1"), file("b", 10, "p=1"), file("c", 40, "p=2"), file("d", 40, "p=2")),
      settings
    )
    assert(plan.bins.map(_.partition) == Seq("p=2", "p=1"))
  }

  test("the tier says why") {
    val plain = OptimizePlanner.compact(Seq(file("a", 10), file("b", 10)), settings)
    assert(plain.bins.map(_.tier) == Seq(Tier.Splice("small row groups are merged")))
    val deleted = OptimizePlanner.compact(Seq(file("a", 10, deleted = 50), file("b", 10)), settings)
    assert(deleted.bins.map(_.tier) == Seq(Tier.Rows("a file has a deletion vector")))
  }

  test("Z-order takes every file, one bin a partition") {
    val files = Seq(file("a", 500, "p=1"), file("b", 10, "p=1"), file("c", 10, "p=2"))
    val plan = OptimizePlanner.zOrder(files, settings, Seq("x"))
    assert(plan.bins.map(bin => bin.partition -> bin.files.size) == Seq("p=1" -> 2, "p=2" -> 1))
    assert(plan.bins.map(plan.outputsOf) == Seq(5, 1))
  }
}
