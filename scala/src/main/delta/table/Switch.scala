package org.apache.spark.sql.delta.upkeep.table

import scala.util.Try

import io.deltaupkeep.{UpkeepConf, UpkeepErrors, UpkeepException}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/**
 * Whether Delta Upkeep does anything: in a session by a setting, to a table by a property of the same name. Any value
 * but `true` turns it off, because whoever set it wanted a change. Never throws: it is asked inside users' statements.
 */
object Switch {

  private val Property = UpkeepConf.Enabled.key.stripPrefix("spark.")

  def isOn(session: SparkSession): Boolean = isTrue(valueIn(session))

  private[upkeep] def isOn(snapshot: Snapshot): Boolean = valueIn(snapshot).forall(isTrue)

  /** Whether a plan is a Delta table that is switched off; it was opened for the running statement. */
  def isOffFor(session: SparkSession, opened: LogicalPlan): Boolean =
    isOff(opened)(DeltaHandle.snapshotOf(session, _))

  /** The same for a table that may have been opened long ago, as `DeltaTable` keeps one. Lists its log. */
  def isOffNow(plan: LogicalPlan): Boolean = isOff(plan)(DeltaApi.current.newest)

  /** If it cannot be read, whoever opens it says why. */
  private def isOff(plan: LogicalPlan)(snapshotOf: DeltaTableV2 => Snapshot): Boolean =
    Plans.tableIn(plan).exists(table => Try(!isOn(snapshotOf(table))).getOrElse(false))

  /** The error of a statement in a session that is switched off. */
  def refusalIn(session: SparkSession, statement: String): UpkeepException =
    UpkeepErrors.sessionSwitchedOff(statement, UpkeepConf.Enabled.key, valueIn(session))

  /** Why a statement leaves a table that is switched off alone, or None. */
  private[upkeep] def refusal(
      statement: String,
      table: String,
      snapshot: Snapshot,
      intent: Intent
  ): Option[UpkeepException] =
    if (intent == Intent.Read || intent == Intent.Maintain) None
    else valueIn(snapshot).filterNot(isTrue).map(UpkeepErrors.tableSwitchedOff(statement, table, Property, _))

  private def valueIn(session: SparkSession): String =
    session.sessionState.conf.getConfString(UpkeepConf.Enabled.key, UpkeepConf.Enabled.defaultValueString)

  private def valueIn(snapshot: Snapshot): Option[String] = snapshot.metadata.configuration.get(Property)

  private def isTrue(value: String): Boolean = value.trim.equalsIgnoreCase("true")
}
