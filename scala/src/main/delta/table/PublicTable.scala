package org.apache.spark.sql.delta.upkeep.table

import scala.jdk.CollectionConverters._

import io.delta.tables.DeltaTable

import org.apache.spark.sql.SparkSession

/** Opens the `DeltaTable` that Python's class extends; code outside the adapter does not name its type. */
object PublicTable {

  /** @throws io.deltaupkeep.UpkeepException `LOG_DAMAGED`, `NO_DELTA_LOG`, a feature that is not supported */
  def forName(session: SparkSession, name: String): AnyRef =
    DeltaTarget.withKnownFeatures("UpkeepTable.forName", name)(DeltaTable.forName(session, name))

  /** @throws io.deltaupkeep.UpkeepException `EMPTY_NAME`, `LOG_DAMAGED` */
  def forPath(session: SparkSession, path: String, fileSystemOptions: Map[String, String]): AnyRef = {
    val method = "UpkeepTable.forPath"
    DeltaTarget.requireText(method, path)
    InputFailures.explainedLog(method, DeltaTarget.quoted(Seq("delta", path))) {
      DeltaTable.forPath(session, path, fileSystemOptions.asJava)
    }
  }
}
