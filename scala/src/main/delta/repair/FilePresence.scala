package org.apache.spark.sql.delta.upkeep.repair

import java.io.{FileNotFoundException, IOException}

import scala.collection.mutable

import io.deltaupkeep.{SideBySide, UpkeepErrors}
import io.deltaupkeep.plan.repair.Presence

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

/**
 * Finds out which files exist. Directories of the table are listed in parallel. What a listing lacks is looked up by
 * itself, because a listing may be stale, or may leave out hidden files.
 */
private[repair] final class FilePresence(handle: DeltaHandle) {
  import FilePresence._

  private val conf = handle.hadoopConf
  private val root = handle.snapshot.deltaLog.dataPath
  private val below = root.toString.stripSuffix("/") + "/"
  private val threads = handle.cleanupThreads

  /**
   * By listing directories. Files outside of the table's directory are looked up one by one.
   *
   * @throws io.deltaupkeep.UpkeepException `FSCK_STORE_UNREACHABLE`
   */
  def listed(paths: Seq[String]): Map[String, Presence] = {
    requireReachable(paths)
    val (inside, outside) = paths.distinct.partition(_.startsWith(below))
    val directories = inside.groupBy(path => path.substring(0, path.lastIndexOf('/'))).toSeq
    val found = SideBySide.map(directories, "delta-upkeep-fsck", threads) { case (directory, files) =>
      list(new Path(s"$directory/"), files.map(file => file.drop(directory.length + 1) -> file).toMap)
    }.flatten.toMap
    found ++ looked(outside ++ inside.filterNot(found.contains))
  }

  /** One by one. */
  def looked(paths: Seq[String]): Map[String, Presence] = {
    val found =
      SideBySide.map(paths.distinct, "delta-upkeep-fsck", threads)(path => path -> look(new Path(path)))
    val gone = found.collect { case (path, Presence.Gone) if !path.startsWith(below) => path }
    val directories = gone.map(new Path(_).getParent).distinct
    val unmounted = directories.filter(look(_) == Presence.Gone).toSet
    found.toMap ++ gone.filter(path => unmounted(new Path(path).getParent)).map(_ -> NotMounted)
  }

  private def look(path: Path): Presence =
    try {
      val status = fileSystem(path).getFileStatus(path)
      if (status.isFile) Presence.There(status.getLen) else Presence.Unknown("it is a directory")
    } catch {
      case _: FileNotFoundException => Presence.Gone
      case e: IOException => Presence.Unknown(e.toString)
    }

  /**
   * What was found. If the listing fails, nothing is known of its other files, and they are not asked for again.
   *
   * @param names paths by the names of the files
   */
  private def list(directory: Path, names: Map[String, String]): Map[String, Presence] = {
    val found = mutable.Map.empty[String, Presence]
    try {
      val entries = fileSystem(directory).listStatusIterator(directory)
      while (entries.hasNext) {
        val status = entries.next()
        val name = status.getPath.getName
        // The listing of a file is that file.
        val isInside = status.getPath.getParent.toUri.getPath == directory.toUri.getPath
        if (status.isFile && isInside) names.get(name).foreach(found(_) = Presence.There(status.getLen))
      }
    } catch {
      case _: FileNotFoundException => ()
      case e: IOException =>
        names.values.filterNot(found.contains).foreach { path =>
          found(path) = Presence.Unknown(e.toString)
        }
    }
    found.toMap
  }

  private def fileSystem(path: Path): FileSystem = path.getFileSystem(conf)

  private def requireReachable(paths: Seq[String]): Unit = {
    def reach(store: String)(ask: => Any): Unit =
      try { ask; () }
      catch { case e: IOException => throw UpkeepErrors.fsckStoreUnreachable(handle.name, store, e) }
    reach(root.toString)(fileSystem(root).getFileStatus(root))
    paths.iterator.filterNot(_.startsWith(below)).map(storeOf).toSet.foreach { (store: String) =>
      if (store != storeOf(below)) reach(store)(fileSystem(new Path(store)))
    }
  }
}

private object FilePresence {

  /** Of files outside of the table's directory, as of a clone. */
  private val NotMounted = Presence.Unknown("its directory does not exist, as if it was not mounted")

  /** `s3a://bucket/` for `s3a://bucket/t/x.parquet`. */
  private def storeOf(path: String): String = {
    val uri = new Path(path).toUri
    s"${Option(uri.getScheme).fold("")(_ + ":")}${Option(uri.getAuthority).fold("")("//" + _)}/"
  }
}
