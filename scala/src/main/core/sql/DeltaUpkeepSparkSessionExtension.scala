package io.deltaupkeep.sql

import io.deltaupkeep.PlatformCheck
import io.deltaupkeep.sql.parser.UpkeepSqlParser

import org.apache.spark.SPARK_VERSION
import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.delta.upkeep.hook.WatchTransactions
import org.apache.spark.sql.delta.upkeep.spark.SparkApi
import org.apache.spark.sql.delta.upkeep.table.Switch
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/**
 * Adds OPTIMIZE, CHECKPOINT, CLEANUP LOG, DESCRIBE HEALTH and MAINTAIN to a Spark session, beside Delta's own
 * extension and in either order:
 * {{{
 * spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension,io.deltaupkeep.sql.DeltaUpkeepSparkSessionExtension
 * }}}
 *
 * `spark.deltaUpkeep.enabled = false` makes a session behave as without it. With a Spark or Delta that the artifact
 * does not support, commits and queries run as without it, and the statements are refused.
 */
class DeltaUpkeepSparkSessionExtension extends (SparkSessionExtensions => Unit) with Logging {
  override def apply(extensions: SparkSessionExtensions): Unit =
    PlatformCheck.wrongSpark(SPARK_VERSION) match {
      case Some(why) =>
        logWarning(s"Delta Upkeep is off: $why")
        extensions.injectParser((_, delegate) => RefusingParser.of(delegate, why))
      case None =>
        extensions.injectParser { (session, delegate) =>
          new UpkeepSqlParser(delegate, () => Switch.isOn(session))
        }
        SparkApi.injectEarly(extensions)(session => ParseScriptStatement(session))
        extensions.injectResolutionRule(session => ParseBoundStatement(session))
        extensions.injectResolutionRule(session => ResolveTarget(session))
        DeltaApi.problem match {
          case Some(why) => logWarning(s"Delta Upkeep's statements and hooks are off: $why")
          case None =>
            extensions.injectResolutionRule(session => WatchTransactions(session))
            SparkApi.injectEarly(extensions)(session => ReplaceDeltaStatements(session))
        }
    }
}
