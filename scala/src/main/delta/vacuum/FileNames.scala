package org.apache.spark.sql.delta.upkeep.vacuum

import java.net.URI

import scala.util.Try

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.delta.actions.{Action, AddCDCFile, AddFile, DeletionVectorDescriptor}

/**
 * The names, below the root of a table, of the files that an action names. Only the path of a location counts, not its
 * scheme or its authority, of which a store may have several spellings: a file is rather kept than deleted.
 */
private[vacuum] final class FileNames(root: Path) extends Serializable {

  private val prefix = root.toUri.getPath.stripSuffix("/") + "/"

  /** Of a location; None if it is not below the root. */
  def below(path: Path): Option[String] = {
    val text = path.toUri.getPath
    Option.when(text.startsWith(prefix) && text.length > prefix.length)(text.substring(prefix.length))
  }

  /**
   * Of an action.
   *
   * @param path   as the action spells it: a URI, relative to the root or absolute (protocol, 'Add File')
   * @param vector the storage type of its deletion vector, and the vector or where it is
   */
  def of(path: String, vector: Option[(String, String)]): Seq[String] =
    data(path).toSeq ++ vector.flatMap { case (storage, place) => ofVector(storage, place) }

  /**
   * Of a file that a commit removed, to delete it: only if it is in this very place.
   *
   * @param path as the action spells it
   */
  def own(path: String): Option[String] = {
    val found = resolved(path)
    if (FileNames.storeOf(found) == FileNames.storeOf(root)) below(found) else None
  }

  /** The scheme and the authority of a path as an action spells it, if it has them. */
  def store(path: String): Option[String] =
    if (path.contains(":")) FileNames.storeOf(resolved(path)).filterNot(FileNames.storeOf(root).contains)
    else None

  /** Of the files that an action of a commit adds. */
  def added(action: Action): Seq[String] = action match {
    case add: AddFile => of(add.path, FileNames.vectorOf(add.deletionVector))
    case change: AddCDCFile => data(change.path).toSeq
    case _ => Nil
  }

  def data(path: String): Option[String] = below(resolved(path))

  def ofVector(storage: String, place: String): Option[String] = {
    val vector = DeletionVectorDescriptor(storage, place, offset = None, sizeInBytes = 0, cardinality = 0L)
    Option.when(storage != FileNames.Inline)(vector.absolutePath(root)).flatMap(below)
  }

  /** Old writers did not encode paths, so one may be no URI, or no path of Hadoop's. */
  private def resolved(path: String): Path = absolute(
    Try(new Path(new URI(path))).orElse(Try(new Path(path))).getOrElse(new Path(null, null, path))
  )

  private def absolute(path: Path): Path = if (path.isAbsolute) path else new Path(root, path)
}

private[vacuum] object FileNames {
  private val Inline = "i"

  private def storeOf(path: Path): Option[String] = {
    val uri = path.toUri
    Option(uri.getScheme).map(scheme => s"$scheme://${Option(uri.getAuthority).getOrElse("")}/")
  }

  def vectorOf(descriptor: DeletionVectorDescriptor): Option[(String, String)] =
    Option(descriptor).map(vector => vector.storageType -> vector.pathOrInlineDv)
}
