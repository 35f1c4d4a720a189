package org.apache.spark.sql.delta.upkeep.spark

import com.fasterxml.jackson.core.JsonFactory

import org.apache.hadoop.conf.Configuration
import org.apache.parquet.hadoop.api.WriteSupport
import org.apache.parquet.schema.MessageType

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{Column, DataFrame, Dataset, SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.{DataType, StringType}

/** Where versions of Spark differ. In 3.5 there is one kind of session, without collations and variants. */
object SparkApi {

  type ClassicSession = SparkSession

  def column(expression: Expression): Column = new Column(expression)

  def expression(column: Column): Expression = column.expr

  /** Adds a rule that runs before tables are resolved, if Spark can do that. In 3.5 it runs with all others. */
  def injectEarly(extensions: SparkSessionExtensions)(rule: SparkSession => Rule[LogicalPlan]): Unit =
    extensions.injectResolutionRule(session => rule(session))

  /** Runs a plan. */
  def ofRows(session: SparkSession, plan: LogicalPlan): DataFrame = Dataset.ofRows(session, plan)

  /** The name of an error's condition, which was an error class before 4.0. May be null. */
  def condition(e: SparkThrowable): String = e.getErrorClass

  /** Whether strings are equal if their bytes are. */
  def comparesBytes(text: StringType): Boolean = text == StringType

  def isVariant(dataType: DataType): Boolean = false

  /** Makes parsers take their buffers from a pool, if Jackson has pools. */
  def poolBuffers(factory: JsonFactory): Unit = ()

  /** The schema that a writer gives its files. Its settings are Parquet's own since 1.14. */
  def schemaOf(writer: WriteSupport[_], conf: Configuration): MessageType =
    writer.init(conf).getSchema

  /** The plan with its file scans changed. */
  def mapFiles(plan: LogicalPlan)(change: HadoopFsRelation => HadoopFsRelation): LogicalPlan =
    plan.transform {
      case scan @ LogicalRelation(files: HadoopFsRelation, _, _, _) => scan.copy(relation = change(files))
    }
}
