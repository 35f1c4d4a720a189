package org.apache.spark.sql.delta.upkeep.spark

import com.fasterxml.jackson.core.JsonFactory
import com.fasterxml.jackson.core.util.JsonRecyclerPools

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.conf.HadoopParquetConfiguration
import org.apache.parquet.hadoop.api.WriteSupport
import org.apache.parquet.schema.MessageType

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{classic, Column, DataFrame, SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.{DataType, StringType, VariantType}

/** Where versions of Spark differ. Since 4.0 sessions and columns have a classic form beside Spark Connect's. */
object SparkApi {

  type ClassicSession = classic.SparkSession

  def column(expression: Expression): Column = classic.ExpressionUtils.column(expression)

  def expression(column: Column): Expression = classic.ExpressionUtils.expression(column)

  /** Adds a rule that runs before tables are resolved, as rules of hints do since 4.0. */
  def injectEarly(extensions: SparkSessionExtensions)(rule: SparkSession => Rule[LogicalPlan]): Unit =
    extensions.injectHintResolutionRule(session => rule(session))

  /** Runs a plan. */
  def ofRows(session: SparkSession, plan: LogicalPlan): DataFrame =
    classic.Dataset.ofRows(session.asInstanceOf[ClassicSession], plan)

  /** The name of an error's condition, which was an error class before 4.0. May be null. */
  def condition(e: SparkThrowable): String = e.getCondition

  /** Whether strings are equal if their bytes are. Since 4.0 strings have collations. */
  def comparesBytes(text: StringType): Boolean = text.isUTF8BinaryCollation

  /** Variants came with 4.0. */
  def isVariant(dataType: DataType): Boolean = dataType.isInstanceOf[VariantType]

  /** Makes parsers take their buffers from a pool. Jackson has pools since 2.16. */
  def poolBuffers(factory: JsonFactory): Unit = {
    factory.setRecyclerPool(JsonRecyclerPools.newConcurrentDequePool())
    ()
  }

  /** The schema that a writer gives its files. Its settings are Parquet's own since 1.14. */
  def schemaOf(writer: WriteSupport[_], conf: Configuration): MessageType =
    writer.init(new HadoopParquetConfiguration(conf)).getSchema

  /** The plan with its file scans changed. */
  def mapFiles(plan: LogicalPlan)(change: HadoopFsRelation => HadoopFsRelation): LogicalPlan =
    plan.transform {
      case scan @ LogicalRelation(files: HadoopFsRelation, _, _, _, _) => scan.copy(relation = change(files))
    }
}
