package io.deltaupkeep.sql

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.delta.upkeep.hook.WatchTransactions

/**
 * Adds OPTIMIZE, CHECKPOINT, CLEANUP LOG, DESCRIBE HEALTH and MAINTAIN to a Spark session, beside Delta's own
 * extension and in either order:
 * {{{
 * spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension,io.deltaupkeep.sql.DeltaUpkeepSparkSessionExtension
 * }}}
 */
class DeltaUpkeepSparkSessionExtension extends (SparkSessionExtensions => Unit) {
  override def apply(extensions: SparkSessionExtensions): Unit = {
    extensions.injectParser((_, delegate) => new UpkeepSqlParser(delegate))
    extensions.injectResolutionRule(session => ResolveTarget(session))
    extensions.injectResolutionRule(session => WatchTransactions(session))
    // Hint resolution runs before table resolution, so the table is not resolved yet.
    extensions.injectHintResolutionRule(session => ReplaceDeltaOptimize(session))
  }
}
