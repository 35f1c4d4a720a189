package org.apache.spark.sql.delta.upkeep.table

import scala.jdk.CollectionConverters._

import io.delta.tables.DeltaTable

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.files.TahoeFileIndex
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

/**
 * Where a table is.
 *
 * @param name              in its catalog; None if it was opened by its path
 * @param fileSystemOptions Hadoop settings for this table only, such as the keys of a store
 */
final case class TablePlace(
    name: Option[Seq[String]],
    path: String,
    fileSystemOptions: Map[String, String]
)

/** Opens and reads the `DeltaTable` that Python's class extends; code outside the adapter does not name its type. */
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

  /** Where the table of a `DeltaTable` is, which Delta itself does not tell. */
  def placeOf(deltaTable: AnyRef): TablePlace = {
    val plan = deltaTable.asInstanceOf[DeltaTable].toDF.queryExecution.analyzed
    plan
      .collectFirst { case scan @ ScanOf(index) =>
        val name = scan.catalogTable.map(_.identifier.nameParts)
        TablePlace(name, index.deltaLog.dataPath.toString, index.deltaLog.options)
      }
      .getOrElse(throw DeltaRefusals.notADeltaTable("UpkeepTable.of", plan.simpleString(100)))
  }

  private object ScanOf {
    def unapply(scan: LogicalRelation): Option[TahoeFileIndex] = scan.relation match {
      case HadoopFsRelation(index: TahoeFileIndex, _, _, _, _, _) => Some(index)
      case _ => None
    }
  }
}
