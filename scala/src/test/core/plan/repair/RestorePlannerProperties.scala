package io.deltaupkeep.plan.repair

import io.deltaupkeep.plan.compact.DataFile

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** What holds for any history of appends, rewrites and deletions, and for any files that are broken. */
class RestorePlannerProperties extends AnyFunSuite with ScalaCheckPropertyChecks {
  import RestorePlannerProperties._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 2000)

  private def afterwards(history: History, plan: RestorePlan): Seq[DataFile.Id] =
    history.live.filterNot(plan.restorations.flatMap(_.removed).contains) ++
      plan.restorations.flatMap(_.added)

  private def planOf(history: History, broken: Set[DataFile.Id]): RestorePlan =
    new RestorePlanner(history.live.toSet, broken, history.rewrites).plan()

  test("each row of the table is there exactly once") {
    forAll(histories) { case (history, broken) =>
      val files = afterwards(history, planOf(history, broken))
      assert(files.distinct == files)
      assert(files.flatMap(history.rows).sorted == history.live.flatMap(history.rows).sorted)
    }
  }

  test("no broken file comes in, and each restoration takes one out") {
    forAll(histories) { case (history, broken) =>
      val plan = planOf(history, broken)
      assert(plan.restorations.forall(r => !r.added.exists(broken) && r.removed.exists(broken)))
      assert(plan.restorations.forall(r => r.removed.forall(history.live.contains)))
    }
  }

  test("each broken file of the table is restored or refused") {
    forAll(histories) { case (history, broken) =>
      val plan = planOf(history, broken)
      val restored = plan.restorations.flatMap(_.removed).filter(broken)
      assert(restored.toSet ++ plan.refusals.keySet == history.live.filter(broken).toSet)
      assert(!restored.exists(plan.refusals.contains))
    }
  }

  test("a file is restored if undoing the last commits in turn brings back a table without broken files") {
    forAll(histories) { case (history, broken) =>
      val plan = planOf(history, broken)
      for (
        back <- history.undoneInTurn
        if !back.files.exists(broken) && back.all.forall(_.outputs.exists(broken))
      )
        assert(plan.refusals.isEmpty)
    }
  }
}

private object RestorePlannerProperties {

  /** A table after undoing some rewrites. */
  final case class Back(files: Set[DataFile.Id], all: Seq[Rewrite])

  /**
   * A table, by a plain replay.
   *
   * @param rows  numbers of the rows in each file that ever was
   * @param steps whether each commit was a rewrite, the newest first
   */
  final case class History(
      live: Seq[DataFile.Id],
      rows: Map[DataFile.Id, Seq[Int]],
      rewrites: Seq[Rewrite],
      steps: List[Option[Rewrite]],
      version: Int
  ) {
    def added(sizes: Seq[Int]): History = {
      val first = rows.values.map(_.size).sum
      val starts = sizes.scanLeft(first)(_ + _)
      val files =
        sizes.indices.map(i => DataFile.Id(s"v$version-$i", None) -> (starts(i) until starts(i + 1)))
      copy(live ++ files.map(_._1), rows ++ files, steps = None :: steps, version = version + 1)
    }

    def deleted(pick: Seq[Boolean]): History =
      copy(
        live.zip(pick).collect { case (file, false) => file } ++ live.drop(pick.size),
        steps = None :: steps,
        version = version + 1
      )

    /** Shuffles the rows of some files into others. */
    def rewritten(pick: Seq[Boolean], count: Int): History = {
      val inputs = live.zip(pick).collect { case (file, true) => file }
      val all = inputs.flatMap(rows).reverse
      if (all.isEmpty) this
      else {
        val files = all.grouped(math.max(1, (all.size + count - 1) / count)).toSeq.zipWithIndex
          .map { case (some, i) => DataFile.Id(s"v$version-$i", None) -> some }
        val rewrite = Rewrite(version.toLong, files.map(_._1).toSet, inputs.toSet)
        History(
          live.filterNot(inputs.contains) ++ files.map(_._1),
          rows ++ files,
          rewrites :+ rewrite,
          Some(rewrite) :: steps,
          version + 1
        )
      }
    }

    /** The tables that one gets by undoing the last one, two, ... rewrites, as long as the commits are rewrites. */
    def undoneInTurn: Seq[Back] =
      steps.takeWhile(_.nonEmpty).flatten.scanLeft(Back(live.toSet, Nil)) { (back, rewrite) =>
        Back(back.files -- rewrite.outputs ++ rewrite.inputs, back.all :+ rewrite)
      }
  }

  private val step: Gen[History => History] = {
    val picks = Gen.listOfN(6, Gen.oneOf(true, false))
    Gen.frequency(
      3 -> Gen.listOfN(2, Gen.chooseNum(1, 3)).map(sizes => (_: History).added(sizes)),
      5 -> (for (pick <- picks; count <- Gen.chooseNum(1, 3)) yield (_: History).rewritten(pick, count)),
      1 -> picks.map(pick => (_: History).deleted(pick))
    )
  }

  val histories: Gen[(History, Set[DataFile.Id])] = for {
    steps <- Gen.chooseNum(1, 10).flatMap(Gen.listOfN(_, step))
    history = steps.foldLeft(History(Nil, Map.empty, Nil, Nil, 0).added(Seq(2, 2)))((now, next) => next(now))
    share <- Gen.chooseNum(1, 6)
    broken <- Gen.someOf(history.rows.keys.toSeq).map(_.toSeq)
    kept <- Gen.listOfN(broken.size, Gen.chooseNum(0, 6))
  } yield (history, broken.zip(kept).collect { case (file, n) if n <= share => file }.toSet)
}
