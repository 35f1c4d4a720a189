package org.apache.spark.sql.delta.upkeep.optimize

import scala.util.Try

import io.deltaupkeep.plan.compact.DataFile

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
      PhysicalSchema.find(parts, table.snapshot.metadata, isSame).map { column =>
        KeyColumn(DeltaTarget.quoted(parts), column.path, column.dataType)
      }
    }
    if (found.size == names.size) found else Nil
  }

  /** By their names in data files, which no renaming changes. Nil if the table has no longer all of them. */
  def stored(table: DeltaHandle, paths: Seq[String]): Seq[KeyColumn] = {
    val found = paths.map(UnresolvedAttribute.parseAttributeName).flatMap { path =>
      PhysicalSchema.ofPath(path, table.snapshot.metadata).map { column =>
        KeyColumn(DeltaTarget.quoted(column.name), column.path, column.dataType)
      }
    }
    if (found.size == paths.size) found else Nil
  }
}

/**
 * The order of a file, by one of its tags.
 *
 * @param tag        its name
 * @param keys       none if the text is not from a writer that is known, or names columns that the table no longer has
 * @param descending for each of them, if they have a direction
 */
private[optimize] final case class TaggedOrder(tag: String, keys: Seq[KeyColumn], descending: Seq[Boolean]) {

  def isKnown: Boolean = keys.nonEmpty

  def isSame(other: TaggedOrder): Boolean = isKnown && this == other

  /** What puts files in this order. */
  def clause: String = {
    val columns = keys.map(_.name)
    if (tag != DataFile.SortTag) columns.mkString("ZORDER BY (", ", ", ")")
    else
      columns.zipAll(descending, "", false).map { case (name, isDescending) =>
        if (isDescending) s"$name DESC" else name
      }.mkString("ORDER BY (", ", ", ")")
  }
}

private[optimize] object TaggedOrder {

  /** How our tags have an order: names in data files as JSON, those of ORDER BY with DESC behind them where they have it. */
  def textOf(keys: Seq[KeyColumn], descending: Seq[Boolean]): String =
    JsonUtils.toJson(keys.zipAll(descending, null, false).map { case (key, isDescending) =>
      DeltaTarget.quoted(key.path) + (if (isDescending) Desc else "")
    })

  /** @param text of the tag; Delta's own has names in the table */
  def of(table: DeltaHandle, tag: String, text: String): TaggedOrder = {
    val names = Try(JsonUtils.fromJson[Seq[String]](text)).toOption.flatMap(Option(_))
      .filterNot(_.contains(null)).getOrElse(Nil)
    def keys(found: => Seq[KeyColumn]) = Try(found).getOrElse(Nil)
    tag match {
      case DataFile.SortTag =>
        val paths = names.map(_.stripSuffix(Desc))
        TaggedOrder(tag, keys(KeyColumn.stored(table, paths)), names.map(_.endsWith(Desc)))
      case DataFile.ZOrderTag => TaggedOrder(tag, keys(KeyColumn.stored(table, names)), Nil)
      case _ => TaggedOrder(tag, keys(KeyColumn.named(table, names)), Nil)
    }
  }

  private val Desc = " DESC"
}
