package org.apache.spark.sql.delta.upkeep.spark

import scala.reflect.ClassTag

import io.deltaupkeep.SideBySide

import org.apache.hadoop.conf.Configuration

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.util.SerializableConfiguration

/**
 * Looks at many files in one Spark job, several at a time in each task.
 *
 * @param conf to access the files
 */
private[upkeep] final class FileJob(context: SparkContext, conf: Configuration) {
  import FileJob._

  /**
   * What was found out about each file, in the order of the files.
   *
   * @param description of the job, for Spark's UI
   * @param threads     the name of the threads
   * @param ofTask      how many of them a task has
   * @param lookOfTask  makes what looks at the files of a task
   */
  def map[F, R: ClassTag](files: Seq[F], description: String, threads: String, ofTask: Int = Threads)(
      lookOfTask: () => (F, Configuration) => R
  ): Seq[R] = {
    val sent = context.broadcast(new SerializableConfiguration(conf))
    val groups = files.grouped(filesPerTask(files.size)).toIndexedSeq
    SparkJobs.described(context, description) {
      context
        .parallelize(groups, groups.size)
        .flatMap { group =>
          val look = lookOfTask()
          val task = TaskContext.get()
          SideBySide.map(group, threads, ofTask) { file =>
            TaskAttempts.stopIfKilled(task)
            look(file, sent.value.value)
          }
        }
        .collect()
        .toSeq
    }
  }

  private def filesPerTask(files: Int): Int =
    math.max(1, math.min(MostFiles, files / context.defaultParallelism))
}

private[upkeep] object FileJob {

  /** Reading footers waits for the store most of the time. */
  val Threads = 8

  private val MostFiles = 512
}
