package io.deltaupkeep.sql

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

/** Adds a rule that runs before tables are resolved where Spark can. In 3.5 it runs with all others. */
private[sql] object EarlyResolution {
  def inject(extensions: SparkSessionExtensions)(rule: SparkSession => Rule[LogicalPlan]): Unit =
    extensions.injectResolutionRule(session => rule(session))
}
