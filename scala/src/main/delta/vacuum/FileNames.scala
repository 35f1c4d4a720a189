package org.apache.spark.sql.delta.upkeep.vacuum

import java.net.URI

import scala.util.Try

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.delta.actions.{Action, AddCDCFile, AddFile, DeletionVectorDescriptor}

/**
 * The names, below the root of a table, of the files that an action names. Only the path of a location counts, not its
 * scheme or its authority, of which a store may have several spellings: a file is rather kept than deleted.
 *
 * @param root  of the table whose actions name the files
 * @param owner root of the table that has the files, another one for a clone
 */
private[vacuum] final class FileNames(root: Path, owner: Path) extends Serializable {

  private val prefix = owner.toUri.getPath.stripSuffix("/") + "/"

  /** Of a location; None if it is not below the root. */
  def below(path: Path): Option[String] = {
    val text = path.toUri.getPath
    Option.when(text.startsWith(prefix) && text.length > prefix.length)(text.substring(prefix.length))
  }

  /** Where the owner has a file of a name. */
  def pathOf(name: String): Path = new Path(owner, new Path(null, null, name))

  /** Whether a location is in the store of the root, or does not say in which it is. */
  def isInStore(path: Path): Boolean = FileNames.storeOf(path).forall(FileNames.storeOf(root).contains)

  /**
   * Of an action.
   *
   * @param path   as the action spells it: a URI, relative to the root or absolute (protocol, 'Add File')
   * @param vector the storage type of its deletion vector, and the vector or where it is
   */
  def of(path: String, vector: Option[(String, String)]): Seq[String] =
    data(path).toSeq ++ vector.flatMap { case (storage, place) => ofVector(storage, place) }

  /**
   * Of a file that a commit removed, to delete it: only if the path is relative. A shallow clone whose directory is above
   * that of its source removes files of the source, by absolute paths.
   *
   * @param path as the action spells it
   */
  def own(path: String): Option[String] =
    Some(parsed(path)).filterNot(_.isAbsolute).map(absolute).flatMap(below)

  /** Of the file of a deletion vector that went with it. */
  def ownVector(storage: String, place: String): Option[String] =
    if (storage == FileNames.Absolute) None else ofVector(storage, place)

  /** The schemes and authorities, other than the root's, in the locations that an action spells. */
  def stores(path: String, vector: Option[(String, String)]): Seq[String] =
    (path +: vector.collect { case (FileNames.Absolute, place) => place }.toSeq)
      .filter(_.contains(":"))
      .flatMap(location => FileNames.storeOf(resolved(location)))
      .filterNot(FileNames.storeOf(root).contains)

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

  private def resolved(path: String): Path = absolute(parsed(path))

  /** Old writers did not encode paths, so one may be no URI, or no path of Hadoop's. */
  private def parsed(path: String): Path =
    Try(new Path(new URI(path))).filter(_.toUri.getPath != null)
      .orElse(Try(new Path(path))).getOrElse(new Path(null, null, path))

  private def absolute(path: Path): Path = if (path.isAbsolute) path else new Path(root, path)
}

private[vacuum] object FileNames {
  private val Inline = "i"
  val Absolute = "p"

  private def storeOf(path: Path): Option[String] = {
    val uri = path.toUri
    Option(uri.getScheme).map(scheme => s"$scheme://${Option(uri.getAuthority).getOrElse("")}/")
  }

  def vectorOf(descriptor: DeletionVectorDescriptor): Option[(String, String)] =
    Option(descriptor).map(vector => vector.storageType -> vector.pathOrInlineDv)
}
