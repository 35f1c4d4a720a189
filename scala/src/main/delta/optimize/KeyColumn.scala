package org.apache.spark.sql.delta.upkeep.optimize

import scala.util.Try

import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaTarget, PhysicalSchema}
import org.apache.spark.sql.delta.util.JsonUtils
import org.apache.spark.sql.types.DataType

/**
 * A column that files are clustered by, by its name in the table and in data files.
 *
 * @param name quoted where SQL needs it
 */
private[optimize] final case class KeyColumn(name: String, path: Seq[String], dataType: DataType) {
  // Names may be spelled in several ways.
  override def equals(other: Any): Boolean = other match {
    case key: KeyColumn => key.path == path
    case _ => false
  }
  override def hashCode: Int = path.hashCode
}

private[optimize] object KeyColumn {

  /** Nil if the table has no longer all of them. */
  def named(table: DeltaHandle, names: Seq[String]): Seq[KeyColumn] = {
    val isSame = table.session.sessionState.conf.resolver
    val found = names.map(UnresolvedAttribute.parseAttributeName).flatMap { parts =>
      PhysicalSchema.find(parts, table.snapshot.metadata, isSame).map { case (path, dataType) =>
        KeyColumn(DeltaTarget.quoted(parts), path, dataType)
      }
    }
    if (found.size == names.size) found else Nil
  }

  /** Names as JSON, as tags of files have them. Nil also if the text is not from a writer that is known. */
  def inTag(table: DeltaHandle, text: String): Seq[KeyColumn] =
    Try(named(table, JsonUtils.fromJson[Seq[String]](text))).getOrElse(Nil)
}
