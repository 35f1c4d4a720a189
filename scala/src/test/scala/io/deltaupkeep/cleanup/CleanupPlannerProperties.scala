package io.deltaupkeep.cleanup

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

/** Random logs, judged by a model of readers that knows nothing of the planner. */
class CleanupPlannerProperties extends AnyFunSuite with ScalaCheckPropertyChecks {
  import Logs._

  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 1000)

  private val age: Gen[Long] = Gen.chooseNum(0L, 60L * 24).map(hours => now - hours * 3600000L)

  private def sometimes[T](percent: Int)(gen: => Gen[Seq[T]]): Gen[Seq[T]] =
    Gen.chooseNum(1, 100).flatMap(n => if (n <= percent) gen else Gen.const(Seq.empty[T]))

  private def checkpointOf(version: Long, time: Long): Gen[(Seq[LogFile], Map[String, SidecarReferences])] = {
    val single = classic(version, time)
    val top = v2(version, s"u$version", time)
    val sidecarNames = Gen.someOf("s0", "s1", "s2", "s3").map(_.toSeq)
    Gen.oneOf(
      Gen.const((Seq(single), Map.empty[String, SidecarReferences])),
      Gen.const((Seq(single.copy(sizeInBytes = 0)), Map.empty[String, SidecarReferences])),
      Gen.someOf(1, 2, 3).map(found =>
        (found.map(part(version, _, 3, time)).toSeq, Map.empty[String, SidecarReferences])
      ),
      Gen.const(((1 to 2).map(part(version, _, 2, time)), Map.empty[String, SidecarReferences])),
      sidecarNames.map(names => (Seq(top), Map[String, SidecarReferences](top.name -> named(names: _*)))),
      Gen.const((Seq(top), Map[String, SidecarReferences](top.name -> SidecarReferences.Unreadable("torn"))))
    )
  }

  private def version(number: Long): Gen[(Seq[LogFile], Map[String, SidecarReferences])] =
    for {
      time <- age
      commits <- sometimes(95)(Gen.const(Seq(commit(number, time))))
      others <-
        sometimes(30)(Gen.const(Seq(checksum(number, time), staged(number), compaction(number, number + 2))))
      withCheckpoint <- Gen.chooseNum(0, 3)
      checkpoint <- checkpointOf(number, time)
    } yield
      if (withCheckpoint > 0) (commits ++ others, Map.empty)
      else (commits ++ others ++ checkpoint._1, checkpoint._2)

  private val logs: Gen[ModelLog] = for {
    first <- Gen.oneOf(0L, 0L, 5L)
    count <- Gen.chooseNum(0, 25)
    versions <- Gen.sequence[
      Seq[(Seq[LogFile], Map[String, SidecarReferences])],
      (Seq[LogFile], Map[String, SidecarReferences])
    ](
      (first until first + count).map(version)
    )
    sidecars <- Gen.sequence[Seq[Seq[LogFile]], Seq[LogFile]](
      (0 to 4).map(i => sometimes(85)(age.map(time => Seq(sidecar(s"s$i", time)))))
    )
    temporaries <- sometimes(20)(age.map(time => Seq(temporary(time))))
    retention <- Gen.chooseNum(0L, 60L)
    protection <- Gen.option(Gen.chooseNum(0L, 30L))
  } yield {
    val files = versions.flatMap(_._1) ++ sidecars.flatten ++ temporaries
    val cutoff = Cutoff.timestamp(now, retention * day, Granularity.Day)
    val commits = files.filter(_.kind.isInstanceOf[LogFileKind.Commit]).toIndexedSeq
    val references = versions.flatMap(_._2).toMap
    ModelLog(CleanupInput(files, now, cutoff, Cutoff.commit(commits, cutoff, None), references, protection))
  }

  test("no version inside retention is lost, wherever the cleanup stops") {
    forAll(logs) { log =>
      val plan = CleanupPlanner.plan(log.input)
      val promised = log.readable.filter(version => log.input.cutoffCommit.forall(version >= _))
      (0 to plan.deletions.size).foreach { count =>
        val lost = promised -- log.after(plan.deletions.take(count).toSet).readable
        assert(lost.isEmpty, s"after $count of ${plan.deletions.map(_.path)}")
      }
    }
  }

  test("every file has one verdict, and the totals add up") {
    forAll(logs) { log =>
      val plan = CleanupPlanner.plan(log.input)
      assert(plan.verdicts.map(_.file).toSet == log.input.files.toSet)
      assert(plan.verdicts.size == log.input.files.size)
      assert(plan.totals.map(_.files).sum == log.input.files.size)
      assert(plan.deletions.toSet == plan.verdicts.filter(_.verdict == Verdict.Delete).map(_.file).toSet)
    }
  }

  test("no expired commit stays where a checkpoint could stand in for it") {
    forAll(logs) { log =>
      val plan = CleanupPlanner.plan(log.input)
      val kept = plan.verdicts.filter(_.verdict == Verdict.Keep).map(_.file.kind)
      plan.cutoffCheckpoint.foreach { checkpoint =>
        assert(!kept.exists { case LogFileKind.Commit(version) => version < checkpoint; case _ => false })
      }
    }
  }

  test("a second cleanup finds nothing") {
    forAll(logs) { log =>
      val plan = CleanupPlanner.plan(log.input)
      assert(CleanupPlanner.plan(log.after(plan.deletions.toSet).input).isEmpty)
    }
  }

  test("the oldest readable version begins the last unbroken run of readable versions") {
    forAll(logs) { log =>
      val plan = CleanupPlanner.plan(log.input)
      val readable = log.after(plan.deletions.toSet).readable
      val newest =
        log.input.files.map(_.kind).collect { case LogFileKind.Commit(version) => version }.maxOption
      val expected =
        newest.filter(readable).map(n => Iterator.iterate(n)(_ - 1).takeWhile(readable).toSeq.last)
      assert(plan.oldestReadableVersion == expected)
    }
  }
}

/** A log as readers see it: a model that knows nothing of the planner. */
private final case class ModelLog(input: CleanupInput) {
  def after(deleted: Set[LogFile]): ModelLog = ModelLog(input.copy(files = input.files.filterNot(deleted)))

  /** What a reader can build, by brute force: some start, and every commit from there. */
  def readable: Set[Long] = {
    val commits = input.files.map(_.kind).collect { case LogFileKind.Commit(version) => version }.toSet
    val starts = usableCheckpoints + -1L
    commits.filter(version => starts.exists(s => s <= version && (s + 1 to version).forall(commits)))
  }

  private def usableCheckpoints: Set[Long] = {
    val sidecars = input.files.filter(_.directory == LogDirectory.Sidecars).map(_.name).toSet
    val files = input.files.filter(_.sizeInBytes > 0)
    val parts = files.map(_.kind).collect { case LogFileKind.CheckpointPart(v, i, n) => (v, n) -> i }
    val multiPart =
      parts.groupMap(_._1)(_._2).collect { case ((v, n), found) if found.distinct.size == n => v }
    val single = files.filter(file =>
      input.sidecarReferences.get(file.name) match {
        case None => true
        case Some(SidecarReferences.Named(names)) => names.subsetOf(sidecars)
        case Some(_) => false
      }
    ).map(_.kind).collect {
      case LogFileKind.ClassicCheckpoint(v) => v
      case LogFileKind.V2Checkpoint(v, _, _) => v
    }
    (multiPart ++ single).toSet
  }
}
