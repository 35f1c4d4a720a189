package io.deltaupkeep.plan.cleanup

import io.deltaupkeep.log.{LogFile, LogFileKind}

/** The order in which files are deleted. */
private[deltaupkeep] object DeletionOrder {

  /**
   * First log compactions, because readers prefer them to the commits that they cover. Then files with a
   * version, oldest first. Then files that no reader uses. Sidecars last, after every checkpoint that named
   * them.
   */
  def phases(files: IndexedSeq[LogFile], reasons: Reasons): Seq[IndexedSeq[LogFile]] = {
    val deletions = files.indices.filter(reasons(_).verdict == Verdict.Delete).map(Deletion.of(files, _))
    deletions.groupBy(_.phase).toSeq.sortBy(_._1).map { case (_, ofPhase) =>
      val indices = ofPhase.sorted(new Order(files)).map(_.index).toArray
      new Picked(files, indices)
    }
  }

  /** @param rank among files of one version */
  private final case class Deletion(index: Int, phase: Byte, version: Long, rank: Byte)

  private object Deletion {
    def of(files: IndexedSeq[LogFile], index: Int): Deletion = {
      def deletion(phase: Int, version: Long, rank: Int) = Deletion(index, phase.toByte, version, rank.toByte)
      files(index).kind match {
        case LogFileKind.LogCompaction(_, end) => deletion(0, end, 0)
        case LogFileKind.Checksum(version) => deletion(1, version, 0)
        case LogFileKind.StagedCommit(version, _) => deletion(1, version, 1)
        case LogFileKind.Commit(version) => deletion(1, version, 3)
        case LogFileKind.Sidecar => deletion(3, 0, 0)
        case other => other.version.fold(deletion(2, 0, 0))(deletion(1, _, 2))
      }
    }
  }

  private final class Order(files: IndexedSeq[LogFile]) extends Ordering[Deletion] {
    override def compare(a: Deletion, b: Deletion): Int =
      if (a.version != b.version) a.version.compare(b.version)
      else if (a.rank != b.rank) a.rank.compare(b.rank)
      else files(a.index).name.compareTo(files(b.index).name)
  }

  /** Some files of a listing. */
  private final class Picked(files: IndexedSeq[LogFile], indices: Array[Int]) extends IndexedSeq[LogFile] {
    override def length: Int = indices.length
    override def apply(i: Int): LogFile = files(indices(i))
  }
}
