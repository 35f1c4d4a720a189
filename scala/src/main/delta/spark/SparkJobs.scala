package org.apache.spark.sql.delta.upkeep.spark

import org.apache.spark.{ShuffleDependency, SparkContext}
import org.apache.spark.rdd.RDD

object SparkJobs {

  /** What Spark's UI shows of the jobs that a thread submits. */
  def described[T](context: SparkContext, description: String)(submit: => T): T = {
    val before = context.getLocalProperty(Description)
    context.setJobDescription(description)
    try submit
    finally context.setJobDescription(before)
  }

  /** Removes what was shuffled to make an RDD, which is not used any more. Spark does it some time after it is collected. */
  def removeShuffled(context: SparkContext, made: RDD[_]): Unit =
    for (cleaner <- context.cleaner; dependency <- made.dependencies) dependency match {
      case shuffled: ShuffleDependency[_, _, _] =>
        cleaner.doCleanupShuffle(shuffled.shuffleId, blocking = false)
      case _ => ()
    }

  private val Description = "spark.job.description"
}
