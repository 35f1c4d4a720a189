package org.apache.spark.sql.delta.upkeep.table

import org.apache.spark.sql.delta.upkeep.spark.SparkApi.ClassicSession
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.internal.SQLConf

/** A copy of the session with our own settings. Other threads use the user's session at the same time. */
private[upkeep] object SessionCopy {

  def of(session: SparkSession)(set: SQLConf => Unit): ClassicSession = {
    val copy = session.asInstanceOf[ClassicSession].cloneSession()
    set(copy.sessionState.conf)
    copy
  }
}
