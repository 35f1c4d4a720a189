package io.deltaupkeep.plan.cleanup

import io.deltaupkeep.log.{CommitTimes, LogDirectory, LogFile, SidecarReferences}
import io.deltaupkeep.log.LogFiles._
import io.deltaupkeep.log.SidecarReferences.{Named, Unreadable}

import org.scalacheck.Gen

/** Random logs, and a model of what readers can make of them that shares no code with the planner. */
object Histories {

  /** A checkpoint as its writer left it. Readers can use an intact one while all that it needs is there. */
  final case class Checkpoint(
      id: String,
      version: Long,
      files: Seq[LogFile],
      needs: Set[String],
      intact: Boolean,
      references: Map[String, SidecarReferences]
  )

  final case class History(
      commits: Seq[LogFile],
      checkpoints: Seq[Checkpoint],
      sidecars: Seq[LogFile],
      others: Seq[LogFile],
      cutoff: Long,
      protection: Option[Long]
  ) {
    val files: Seq[LogFile] =
      (commits ++ checkpoints.flatMap(_.files) ++ sidecars ++ others).distinctBy(_.path)
    val versions: Seq[Long] = commits.map(_.name.takeWhile(_.isDigit).toLong)
    val cutoffCommit: Option[Long] = Cutoff.commit(CommitTimes.of(commits.iterator), cutoff, None)
    val references: Map[String, SidecarReferences] = checkpoints.flatMap(_.references).toMap

    def input(of: Seq[LogFile]): CleanupInput =
      CleanupInput(of.toIndexedSeq, Now, cutoff, cutoffCommit, references, protection)

    /** Those that a reader can use, given the paths that are there. */
    def usable(present: Set[String]): Seq[Checkpoint] = {
      val whole = present -- files.filter(_.sizeInBytes == 0).map(_.path)
      checkpoints.filter(checkpoint => checkpoint.intact && checkpoint.needs.subsetOf(whole))
    }

    /** Files of checkpoints. */
    def unreadable: Seq[LogFile] = files.filter { file =>
      file.sizeInBytes > 0 && references.get(file.name).exists(_.isInstanceOf[Unreadable])
    }

    /** By trying every base for every version that has a commit. */
    def readable(present: Set[String]): Set[Long] = {
      def hasCommits(from: Long, to: Long): Boolean =
        (from to to).forall(version => present(f"$version%020d.json"))
      val bases = usable(present).map(_.version)
      versions.filter(version => hasCommits(version, version)).filter { version =>
        hasCommits(0, version) || bases.exists(base => base <= version && hasCommits(base + 1, version))
      }.toSet
    }
  }

  private val times: Gen[Long] = Gen.chooseNum(Now - 8 * Day, Now)
  private val sidecarPool: Seq[String] = (1 to 6).map(i => s"sidecar-$i.parquet")
  private val sizes: Gen[Long] = Gen.frequency(9 -> Gen.chooseNum(1L, 1000L), 1 -> Gen.const(0L))

  private def some[T](items: Seq[T], chance: Double): Gen[Seq[T]] =
    Gen.listOfN(items.size, Gen.prob(chance)).map(items.zip(_).collect { case (item, true) => item })

  private def plainCheckpoint(version: Long): Gen[Checkpoint] = for {
    time <- times
    size <- sizes
    file = classic(version, time, size)
  } yield Checkpoint(file.name, version, Seq(file), Set(file.path), intact = true, Map.empty)

  private def multiPartCheckpoint(version: Long): Gen[Checkpoint] = for {
    parts <- Gen.chooseNum(1, 3)
    present <- Gen.frequency(3 -> Gen.const(1 to parts), 1 -> some(1 to parts, 0.6))
    stamps <- Gen.listOfN(parts, Gen.zip(times, sizes))
    files = present.map { i =>
      val (time, size) = stamps(i - 1)
      part(version, i, parts, time, size)
    }
    intact = present.size == parts
  } yield Checkpoint(s"$version in $parts", version, files, files.map(_.path).toSet, intact, Map.empty)

  private def checkpointWithSidecars(version: Long): Gen[Checkpoint] =
    for {
      time <- times
      size <- sizes
      named <- some(sidecarPool, 0.4)
      readable <- Gen.prob(0.9)
      id <- Gen.oneOf("a", "b")
      file <- Gen.oneOf(
        v2(version, id, "json", time, size),
        v2(version, id, "parquet", time, size),
        classic(version, time, size)
      )
      answer = if (readable) Named(named.toSet) else Unreadable("truncated")
    } yield Checkpoint(
      file.name,
      version,
      Seq(file),
      named.map("_sidecars/" + _).toSet + file.path,
      readable,
      Map(file.name -> answer)
    )

  private def checkpointsOf(version: Long): Gen[Seq[Checkpoint]] =
    Gen.frequency(3 -> 0, 2 -> 1, 1 -> 2).flatMap { count =>
      Gen.listOfN(
        count,
        Gen.oneOf(plainCheckpoint(version), multiPartCheckpoint(version), checkpointWithSidecars(version))
      )
    }

  private def othersOf(newest: Long): Gen[Seq[LogFile]] = for {
    checksums <- some((0L to newest).map(checksum), 0.5)
    compactions <- some(
      for (start <- 0L to newest; length <- Seq(1L, 3L)) yield compaction(start, start + length),
      0.2
    )
    stagedCommits <- some(for (version <- 0L to newest; id <- Seq("a", "b")) yield staged(version, id), 0.2)
    directory <- Gen.oneOf(LogDirectory.Root, LogDirectory.Sidecars, LogDirectory.StagedCommits)
    temporaries <- Gen.listOf(times.map(time => temporary(directory, s"x$time", time)))
    foreign <- some(Seq(pointer, root("notes.txt"), root("0.u.json"), sidecar("notes.txt")), 0.5)
  } yield checksums ++ compactions ++ stagedCommits ++ temporaries ++ foreign

  val histories: Gen[History] = for {
    oldest <- Gen.frequency(1 -> Gen.const(0L), 1 -> Gen.chooseNum(0L, 4L))
    newest <- Gen.chooseNum(oldest, oldest + 12)
    kept <- Gen.frequency(
      1 -> Gen.const((oldest to newest).toSeq),
      1 -> some(oldest to newest, 0.85)
    )
    stamps <- Gen.listOfN(kept.size, times)
    orderly <- Gen.prob(0.6)
    commits = kept.zip(if (orderly) stamps.sorted else stamps).map { case (version, time) =>
      commit(version, time)
    }
    checkpoints <- Gen.sequence[Seq[Seq[Checkpoint]], Seq[Checkpoint]]((oldest to newest).map(checkpointsOf))
    present <- some(sidecarPool, 0.85)
    sidecars <- Gen.sequence[Seq[LogFile], LogFile](present.map { name =>
      for (time <- times; size <- sizes) yield sidecar(name, time, size)
    })
    others <- othersOf(newest)
    cutoff <- times
    protection <- Gen.option(Gen.chooseNum(0L, newest + 2))
  } yield History(commits, checkpoints.flatten.distinctBy(_.id), sidecars, others, cutoff, protection)
}
