package io.deltaupkeep.plan.cluster

import io.deltaupkeep.plan.compact.{ClusterGroup, DataFile, OptimizeSettings, Partition}
import io.deltaupkeep.stats.KeyRange

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

class ClusterPlannerProperties
    extends AnyFunSuite
    with TableDrivenPropertyChecks
    with ScalaCheckPropertyChecks {

  private val MiB = 1L << 20
  private val Target = 100 * MiB
  private val settings = OptimizeSettings(Target, Target, maxDeletedRowsRatio = 0.05)

  /** @param range of values of each key */
  private case class Stored(path: String, bytes: Long, cube: Option[String], range: Seq[KeyRange]) {
    def dataFile: DataFile =
      DataFile(path, None, bytes, path.hashCode.toLong, Partition.whole, Some(1), 0, None)
  }

  private def stored(path: String, mebibytes: Long, cube: String = "", low: Int = 0, high: Int = 9): Stored =
    Stored(path, mebibytes * MiB, Option(cube).filter(_.nonEmpty), Seq(KeyRange.Between(low, high)))

  private def plan(
      files: Seq[Stored],
      settings: OptimizeSettings = settings,
      cubeBytes: Long = Long.MaxValue,
      mostBytes: Long = Long.MaxValue
  ): Seq[ClusterGroup] = {
    val byPath = files.map(file => file.path -> file).toMap
    new ClusterPlanner(settings, cubeBytes, mostBytes)
      .groups(files.map(_.dataFile), file => byPath(file.path).cube) { some =>
        files.head.range.indices.map(key => some.map(file => byPath(file.path).range(key)))
      }
  }

  private def names(groups: Seq[ClusterGroup]): Set[Set[String]] = groups.map(_.files.map(_.path).toSet).toSet

  /** The table after a run. */
  private def after(files: Seq[Stored], groups: Seq[ClusterGroup], run: Int): Seq[Stored] = {
    val byPath = files.map(file => file.path -> file).toMap
    val added = groups.zipWithIndex.flatMap { case (group, i) =>
      val inputs = group.files.map(file => byPath(file.path))
      val bytes = inputs.map(_.bytes).sum
      val outputs = math.max(1, bytes / group.fileBytes)
      // All of their ranges, as if no order were to be found.
      (0L until outputs).map(k =>
        Stored(s"run $run, $i, $k", bytes / outputs, Some(s"$run-$i"), inputs.map(_.range).reduce(hull(_, _)))
      )
    }
    val gone = groups.flatMap(_.files.map(_.path)).toSet
    files.filterNot(file => gone(file.path)) ++ added
  }

  private def hull(one: Seq[KeyRange], other: Seq[KeyRange]): Seq[KeyRange] = one.zip(other).map {
    case (KeyRange.Between(a, b), KeyRange.Between(c, d)) => KeyRange.Between(a.min(c), b.max(d))
    case (KeyRange.NoValues, range) => range
    case (range, KeyRange.NoValues) => range
    case _ => KeyRange.Unknown
  }

  test("which files are put in order, and together with which") {
    val large = stored("large", 800, "0")
    val cases = Table(
      ("what", "files", "groups"),
      ("no files", Nil, Set.empty[Set[String]]),
      ("nothing is clustered", Seq(stored("a", 10), stored("b", 900)), Set(Set("a", "b"))),
      ("all is clustered", Seq(large, stored("a", 10, "1")), Set.empty[Set[String]]),
      ("little is new", Seq(large, stored("a", 10)), Set(Set("a"))),
      ("as much is new as there was", Seq(large, stored("a", 800)), Set(Set("large", "a"))),
      ("more is new than there was", Seq(large, stored("a", 900)), Set(Set("large", "a"))),
      (
        "as much is new as there was since the last merge",
        Seq(large, stored("a", 10, "1"), stored("b", 10)),
        Set(Set("a", "b"))
      ),
      (
        "a merge makes the next one due",
        Seq(large, stored("a", 20, "1"), stored("b", 10, "2"), stored("c", 10)),
        Set(Set("a", "b", "c"))
      ),
      (
        "what overlaps nothing stays apart",
        Seq(stored("a", 200, "1", high = 3), stored("b", 200, low = 4)),
        Set(Set("b"))
      ),
      (
        "if it makes files of the target size",
        Seq(stored("a", 20, "1", high = 3), stored("b", 20, low = 4)),
        Set(Set("a", "b"))
      ),
      (
        "clustered twice without being merged",
        Seq(large, stored("a", 200, "1"), stored("b", 200, "2")),
        Set(Set("a", "b"))
      )
    )
    forAll(cases)((_, files, groups) => assert(names(plan(files)) == groups))
  }

  test("limits") {
    val files = Seq(stored("a", 300, "1"), stored("b", 150), stored("c", 150), stored("d", 5))
    assert(names(plan(files)) == Set(Set("a", "b", "c", "d")))
    // A Z-cube that is complete, and less at once.
    assert(names(plan(files, cubeBytes = 300 * MiB)) == Set(Set("b", "c", "d")))
    for (limited <- Seq(settings.copy(maxBytes = Some(310 * MiB)), settings.copy(maxFiles = Some(3))))
      assert(names(plan(files, limited)) == Set(Set("b", "c", "d")))
    assert(names(plan(files, settings.copy(maxFiles = Some(2)))).map(_.size) == Set(2, 1))
    assert(names(plan(files, mostBytes = 200 * MiB)).map(_.size) == Set(2, 1))
    val three = Seq(stored("a", 100, "1"), stored("b", 60, "2"), stored("c", 60))
    assert(names(plan(three)) == Set(Set("a", "b", "c")))
    assert(names(plan(three, settings.copy(minOverlapDepth = 4))) == Set(Set("c")))
  }

  test("a file that a log names twice is never moved, nor anything because of it") {
    val (file, cube) = (stored("a", 800), stored("cube", 800, "1"))
    val twice = Seq(file.dataFile, file.dataFile.copy(deletionVector = Some("dv")))
    val planner = new ClusterPlanner(settings, Long.MaxValue, Long.MaxValue)
    def cubeOf(file: DataFile) = if (file.path == "cube") Some("1") else None
    assert(planner.groups(twice :+ cube.dataFile, cubeOf)(_ => fail("nothing is due")) == Nil)
  }

  test("the parts of a large first run have files of the target size") {
    val parts = (1 to 10).map(i => stored(s"$i", 400))
    assert(
      plan(parts, cubeBytes = 1000 * MiB, mostBytes = 1500 * MiB).map(_.fileBytes).distinct == Seq(Target)
    )
    assert(plan(parts, settings.copy(maxFiles = Some(2))).map(_.fileBytes).distinct == Seq(Target))
    val more = stored("complete", 2000, "0") +: parts.take(1)
    assert(plan(more, cubeBytes = 1000 * MiB).map(_.fileBytes) == Seq(Target))
  }

  test("files of a small Z-cube are smaller, and say why they are moved") {
    val large = Seq(stored("large", 800, "0"))
    assert(plan(Seq(stored("a", 100))).map(_.fileBytes) == Seq(Target))
    val small = plan(large :+ stored("a", 200)).head
    assert((small.fileBytes, small.why) == ((20 * MiB, "not in order yet")))
    assert(plan(large :+ stored("a", 1)).map(_.fileBytes) == Seq(Target / 8))
    val merged =
      plan(stored("large", 600, "0") +: Seq(stored("a", 200, "1"), stored("b", 200), stored("c", 200))).head
    assert(merged.fileBytes == Target)
    // Unless headers would outweigh values.
    assert(plan(large :+ stored("a", 1), settings.copy(targetFileSize = 1000)).map(_.fileBytes) == Seq(1000))
    assert(merged.why == "2 Z-cubes and 2 files not in order yet overlap")
  }

  test("over many appends of 5 %, few bytes are written for each new one, and few Z-cubes are left") {
    forAll(Gen.choose(1, 6)) { depth =>
      val some = settings.copy(minOverlapDepth = depth.toLong)
      var files = after(Seq(stored("first", 2000)), plan(Seq(stored("first", 2000))), 0)
      var (written, appended) = (0L, 0L)
      for (round <- 1 to 40) {
        val before = files :+ stored(s"new $round", 100)
        val groups = plan(before, some)
        files = after(before, groups, round)
        written += groups.flatMap(_.files).map(_.sizeInBytes).sum
        appended += 100 * MiB
        val cubes = files.map(_.cube).distinct
        assert(!cubes.contains(None) && cubes.size <= 6 + 3 * depth)
        if (round == 10) assert(written <= 3 * appended)
      }
      assert(written <= 7 * appended)
    }
  }

  private val ranges: Gen[KeyRange] = Gen.frequency(
    8 -> Gen.listOfN(2, Gen.choose(0, 20)).map(ends => KeyRange.Between(ends.min, ends.max)),
    1 -> KeyRange.NoValues,
    1 -> KeyRange.Unknown
  )

  private val tables: Gen[Seq[Stored]] = Gen
    .listOf(
      Gen.zip(Gen.choose(0L, 300L), Gen.option(Gen.choose(0, 5)), Gen.listOfN(2, ranges))
    )
    .map(_.zipWithIndex.map { case ((bytes, cube, range), i) =>
      Stored(s"$i", bytes * MiB, cube.map(_.toString), range)
    })

  private val limits: Gen[OptimizeSettings] = for {
    depth <- Gen.choose(1L, 4L)
    bytes <- Gen.option(Gen.choose(1L, 1000L).map(_ * MiB))
    count <- Gen.option(Gen.choose(1L, 10L))
  } yield settings.copy(minOverlapDepth = depth, maxBytes = bytes, maxFiles = count)

  test("every file that is not clustered is put in order once, and whole Z-cubes are merged, within limits") {
    forAll(tables, limits) { (files, limits) =>
      val groups = plan(files, limits)
      val taken = groups.flatMap(_.files.map(_.path))
      assert(taken.distinct == taken)
      val fresh = files.filter(_.cube.isEmpty).map(_.path).toSet
      assert(fresh.subsetOf(taken.toSet))
      val cubes = files.filter(file => taken.contains(file.path)).flatMap(_.cube).toSet
      assert(files.filter(_.cube.exists(cubes)).forall(file => taken.contains(file.path)))
      groups.filter(_.files.size > 1).foreach { group =>
        assert(limits.maxFiles.forall(group.files.size <= _))
        assert(limits.maxBytes.forall(group.files.map(_.sizeInBytes).sum <= _))
      }
      assert(groups.forall(group => group.files.nonEmpty && group.fileBytes <= Target))
    }
  }

  test("a second run has nothing to do") {
    forAll(tables) { files =>
      // Merged sets may overlap others, so that a few runs are due.
      val done = (0 until 20).foldLeft(files)((files, run) => after(files, plan(files), run))
      assert(plan(done) == Nil)
      // What was put in order by itself, or merged with all that it overlaps, stays.
      val alone = files.map(_.copy(cube = None, range = Seq(KeyRange.Unknown)))
      assert(plan(after(alone, plan(alone), 0)) == Nil)
    }
  }
}
