package org.apache.spark.sql.delta.upkeep.repair

import java.io.{FileNotFoundException, IOException}

import scala.util.control.NonFatal

import io.deltaupkeep.{CountText, SideBySide, UnreadableInput}
import io.deltaupkeep.parquet.file.{FileRows, Refusal}
import io.deltaupkeep.plan.compact.DataFile
import io.deltaupkeep.plan.repair.{FileKind, Problem}
import io.deltaupkeep.stats.MergedStats

import org.apache.hadoop.conf.Configuration

import org.apache.spark.TaskContext
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.spark.TaskAttempts
import org.apache.spark.sql.delta.upkeep.splice.{DeletionVector, HadoopInput, SpliceInput}
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, InputFailures}
import org.apache.spark.sql.delta.util.DeltaFileOperations
import org.apache.spark.util.SerializableConfiguration

/**
 * Reads the footers and the deletion vectors of files that exist, in one Spark job. Delta's reader checks the size, the
 * checksum, the magic number and the cardinality of a vector. Pages are not read.
 */
private[repair] final class DeepCheck(handle: DeltaHandle, logged: LoggedFiles) {
  import DeepCheck._

  private val context = handle.session.sparkContext
  private val root = handle.snapshot.deltaLog.dataPath

  /** The files with a problem. */
  def problems(files: Seq[AddFile]): Map[DataFile.Id, Problem] =
    if (files.isEmpty) Map.empty
    else {
      val targets = files.zipWithIndex.map { case (add, i) => targetOf(i, add) }
      run(targets).map { case (i, problem) => logged.idOf(files(i)) -> problem }.toMap
    }

  private def targetOf(index: Int, add: AddFile): Target = Target(
    index,
    SpliceInput(
      DeltaFileOperations.absolutePath(root.toString, add.path).toUri.toString,
      add.size,
      add.modificationTime
    ),
    MergedStats.numRecords(add.stats),
    DeletionVector.of(add, root)
  )

  private def run(targets: Seq[Target]): Seq[(Int, Problem)] = {
    val conf = context.broadcast(new SerializableConfiguration(handle.hadoopConf))
    val groups = targets.grouped(filesPerTask(targets.size)).toIndexedSeq
    val before = context.getLocalProperty(Description)
    context.setJobDescription(s"FSCK ${handle.name}: ${CountText.of(targets.size, "file")}")
    try
      context
        .parallelize(groups, groups.size)
        .flatMap { group =>
          val footers = new FileRows
          val task = TaskContext.get()
          SideBySide.map(group, "delta-upkeep-fsck", Threads) { target =>
            TaskAttempts.stopIfKilled(task)
            problem(target, footers, conf.value.value).map(target.index -> _)
          }.flatten
        }
        .collect()
        .toSeq
    finally context.setJobDescription(before)
  }

  private def filesPerTask(files: Int): Int =
    math.max(1, math.min(MostFiles, files / context.defaultParallelism))
}

private object DeepCheck {
  private val Threads = 8
  private val MostFiles = 512
  private val Description = "spark.job.description"

  /** @param rows of the file, deleted ones included, if the log has their number */
  private final case class Target(
      index: Int,
      file: SpliceInput,
      rows: Option[Long],
      vector: Option[DeletionVector]
  )

  private def problem(target: Target, footers: FileRows, conf: Configuration): Option[Problem] = {
    def counted = footers.of(new HadoopInput(target.file, HadoopInput.RandomAccess, conf)) match {
      case Right(found) => target.rows.filter(_ != found).map(Problem.WrongRows(found, _))
      case Left(Refusal(why, true)) => Some(Problem.Damaged(FileKind.Data, why))
      // It is encrypted.
      case Left(_) => None
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
