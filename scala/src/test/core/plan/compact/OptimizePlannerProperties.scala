package io.deltaupkeep.plan.compact

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** What holds for any table, and for any history of appends and compactions. */
class OptimizePlannerProperties extends AnyFunSuite with ScalaCheckPropertyChecks {

  private val target = 1L << 20
  private val settings = OptimizeSettings(target, target, maxDeletedRowsRatio = 0.05)

  private def file(number: Int, size: Long, optimized: Boolean): DataFile =
    DataFile(
      s"f$number",
      None,
      size,
      number.toLong,
      Partition.whole,
      Some(10),
      0,
      Option.when(optimized)(target)
    )

  /** Bytes and megabytes alike. */
  private val sizes: Gen[Long] = Gen.chooseNum(0, 20).flatMap(log => Gen.chooseNum(1L << log, 2L << log))

  private def tablesOf(optimized: Gen[Boolean]): Gen[Seq[DataFile]] = for {
    sizes <- Gen.listOf(sizes)
    optimized <- Gen.listOfN(sizes.size, optimized)
  } yield sizes.zip(optimized).zipWithIndex.map { case ((size, old), i) => file(i, size, old) }

  private val tables = tablesOf(Gen.oneOf(true, false))

  /** The table after the plan, if no byte is saved. */
  private def after(files: Seq[DataFile], plan: OptimizePlan): Seq[DataFile] = {
    val gone = plan.files.toSet
    val first = files.map(_.modificationTime.toInt).maxOption.getOrElse(0) + 1
    val added = plan.bins.zipWithIndex.map { case (bin, i) =>
      file(first + i, bin.sizeInBytes, optimized = true)
    }
    files.filterNot(gone) ++ added
  }

  private def isSound(bin: Bin): Boolean = {
    val largest = bin.files.map(_.sizeInBytes).max
    bin.files.size >= 2 && bin.sizeInBytes <= target && (bin.sizeInBytes - largest) * 8 >= largest
  }

  test("a bin has two files at least, no more than the target, and no giant among crumbs") {
    forAll(tables)(files => assert(OptimizePlanner.compact(files, settings).bins.forall(isSound)))
  }

  test("a file is in one bin at most") {
    forAll(tables) { files =>
      val planned = OptimizePlanner.compact(files, settings).files
      assert(planned.distinct.size == planned.size && planned.forall(files.contains))
    }
  }

  /** More partitions than texts for them. */
  private val partitions: Gen[Partition] =
    Gen.option(Gen.oneOf("null", "a", "b")).map(value => Partition(Seq(value))("p=null"))

  test("the files of a bin are of one partition, whatever its text") {
    val partitioned = for {
      files <- tables
      partitions <- Gen.listOfN(files.size, partitions)
    } yield files.zip(partitions).map { case (file, partition) => file.copy(partition = partition) }
    forAll(partitioned) { files =>
      for (bin <- OptimizePlanner.compact(files, settings).bins)
        assert(bin.files.map(_.partition.values).distinct == Seq(bin.partition.values))
    }
  }

  test("a second run finds nothing to do") {
    forAll(tablesOf(false)) { files =>
      val plan = OptimizePlanner.compact(files, settings)
      assert(OptimizePlanner.compact(after(files, plan), settings).isEmpty)
    }
  }

  test("a bounded run keeps its bounds and the rules of a bin, and loses no file from sight") {
    forAll(tables, Gen.chooseNum(1L, 20L), Gen.chooseNum(1L, 2 * target)) { (files, maxFiles, maxBytes) =>
      val bounded = settings.copy(maxFiles = Some(maxFiles), maxBytes = Some(maxBytes))
      val plan = OptimizePlanner.compact(files, bounded)
      assert(plan.files.size <= maxFiles && plan.files.map(_.sizeInBytes).sum <= maxBytes)
      assert(plan.bins.forall(isSound))
      val all = OptimizePlanner.compact(files, settings).files
      assert((plan.files ++ plan.deferred.flatMap(_.files)).sortBy(_.path) == all.sortBy(_.path))
    }
  }

  test("bounded runs come to an end, with no more files than one run without bounds leaves, or twice that") {
    forAll(tablesOf(false), Gen.chooseNum(3L, 20L)) { (files, maxFiles) =>
      val bounded = settings.copy(maxFiles = Some(maxFiles))
      val states = Iterator.iterate(files)(now => after(now, OptimizePlanner.compact(now, bounded)))
      val end = states.take(files.size + 1).toSeq.last
      assert(OptimizePlanner.compact(end, bounded).isEmpty)
      assert(end.size <= 2 * after(files, OptimizePlanner.compact(files, settings)).size + 4)
    }
  }

  test(
    "appends of any size, beyond the target, leave few files and rewrite a byte a logarithmic number of times"
  ) {
    forAll(Gen.listOfN(300, Gen.chooseNum(1L, target / 16))) { appends =>
      val (files, rewritten) = history(appends)
      val total = appends.sum
      assert(rewritten <= 4 * total * 20)
      assert(files.size <= 2 * (total / target + 1) + 20)
    }
  }

  test("appends with a compaction after each rewrite a byte a logarithmic number of times") {
    forAll(Gen.chooseNum(10, 400), Gen.chooseNum(1L, 2000L)) { (appends, size) =>
      val (files, rewritten) = history(Seq.fill(appends)(size))
      val logarithm = 2 + math.log(appends.toDouble) / math.log(2)
      assert(rewritten <= 8 * appends * size * logarithm)
      assert(files.size <= 8 * logarithm)
    }
  }

  /** Files in the end, and bytes rewritten by a compaction after each append. */
  private def history(appends: Seq[Long]): (Seq[DataFile], Long) =
    appends.foldLeft((Seq.empty[DataFile], 0L)) { case ((files, rewritten), size) =>
      val next = files.map(_.modificationTime.toInt).maxOption.getOrElse(0) + 1
      val grown = files :+ file(next, size, optimized = false)
      val plan = OptimizePlanner.compact(grown, settings)
      (after(grown, plan), rewritten + plan.files.map(_.sizeInBytes).sum)
    }
}
