package org.apache.spark.sql.delta.upkeep.repair

import java.io.{FileNotFoundException, IOException}

import scala.util.control.NonFatal

import io.deltaupkeep.{CountText, UnreadableInput}
import io.deltaupkeep.parquet.file.{FileFooters, FilePages}
import io.deltaupkeep.plan.compact.DataFile
import io.deltaupkeep.plan.repair.{FileKind, Problem}
import io.deltaupkeep.stats.MergedStats

import org.apache.hadoop.conf.Configuration

import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.spark.FileJob
import org.apache.spark.sql.delta.upkeep.splice.{DeletionVector, HadoopInput, SpliceInput}
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, InputFailures}

/**
 * Reads the footers and the deletion vectors of files that exist, in one Spark job. Delta's reader checks the size, the
 * checksum, the magic number and the cardinality of a vector.
 *
 * @param pages whether the pages of data files are read too
 */
private[repair] final class DeepCheck(handle: DeltaHandle, logged: LoggedFiles, pages: Boolean) {
  import DeepCheck._

  private val root = handle.snapshot.deltaLog.dataPath

  /** The files with a problem. */
  def problems(files: Seq[AddFile]): Map[DataFile.Id, Problem] =
    if (files.isEmpty) Map.empty
    else
      files.zip(run(files.map(targetOf))).collect { case (add, Some(problem)) => logged.idOf(add) -> problem }
        .toMap

  private def targetOf(add: AddFile): Target = Target(
    SpliceInput.of(root.toString, add.path, add.size, add.modificationTime),
    MergedStats.numRecords(add.stats),
    DeletionVector.of(add, root)
  )

  private def run(targets: Seq[Target]): Seq[Option[Problem]] = {
    val description = s"FSCK ${handle.name}: ${CountText.of(targets.size, "file")}"
    val readsPages = pages
    new FileJob(handle.session.sparkContext, handle.hadoopConf).map(
      targets,
      description,
      "delta-upkeep-fsck",
      if (pages) 1 else FileJob.Threads
    ) {
      () =>
        val footers = new FileFooters
        (target, conf) => problem(target, footers, if (readsPages) Some(new FilePages(conf)) else None, conf)
    }
  }
}

private object DeepCheck {

  /** @param rows of the file, deleted ones included, if the log has their number */
  private final case class Target(
      file: SpliceInput,
      rows: Option[Long],
      vector: Option[DeletionVector]
  )

  private def problem(
      target: Target,
      footers: FileFooters,
      pages: Option[FilePages],
      conf: Configuration
  ): Option[Problem] = {
    val input = new HadoopInput(target.file, HadoopInput.RandomAccess, conf)
    def counted = footers.rows(input) match {
      case Right(found) => target.rows.filter(_ != found).map(Problem.WrongRows(found, _)).orElse(unread)
      case Left(refusal) if refusal.isMalformed => Some(Problem.Damaged(FileKind.Data, refusal.reason))
      // It is encrypted.
      case Left(_) => None
    }
    def unread = pages.flatMap(_.check(input).left.toOption).map { refusal =>
      if (refusal.isMalformed) Problem.Damaged(FileKind.Data, refusal.reason)
      else Problem.Unknown(FileKind.Data, s"its pages were not checked: ${refusal.reason}")
    }
    found(FileKind.Data)(counted).orElse {
      target.vector.flatMap(vector => found(FileKind.Vector) { vector.read(conf); None })
    }
  }

  /** The problem that reading a file finds, or why it cannot be read. */
  private def found(kind: FileKind)(read: => Option[Problem]): Option[Problem] =
    try read
    catch {
      case NonFatal(e) =>
        Some(InputFailures.damageOf(e).fold[Problem](problemOf(kind, e))(Problem.Damaged(kind, _)))
    }

  private def problemOf(kind: FileKind, thrown: Throwable): Problem = {
    val cause = thrown match {
      case unread: UnreadableInput => unread.getCause
      case other => other
    }
    cause match {
      // It vanished meanwhile.
      case _: FileNotFoundException if kind == FileKind.Data => Problem.DataGone
      case _: FileNotFoundException => Problem.VectorGone
      case e: IOException => Problem.Unknown(kind, e.toString)
      case _ => throw thrown
    }
  }
}
