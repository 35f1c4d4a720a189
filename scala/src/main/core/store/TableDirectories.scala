package io.deltaupkeep.store

import java.io.FileNotFoundException

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, GlobExpander, GlobFilter, Path}

/** Finds tables by location. */
object TableDirectories {

  /** The directories that match a glob of Hadoop's, and whether each has a Delta log, in the order of their names. */
  def matching(glob: String, conf: Configuration): mutable.Map[String, Boolean] = {
    val path = new Path(glob)
    val fileSystem = path.getFileSystem(conf)
    val found = GlobExpander.expand(path.toUri.getPath).asScala.flatMap { plain =>
      val (fixed, rest) = plain.split('/').toSeq.filter(_.nonEmpty).span(!new GlobFilter(_).hasPattern)
      val start = fixed.foldLeft(new Path(fileSystem.getUri.toString, "/"))(child)
      if (rest.isEmpty) Seq(start).filter(isDirectory(fileSystem, _))
      else rest.foldLeft(Seq(start))((parents, name) => parents.flatMap(matching(fileSystem, _, name)))
    }
    mutable.LinkedHashMap(found.distinct.sorted.map { directory =>
      directory.toString -> fileSystem.exists(new Path(directory, "_delta_log"))
    }.toSeq: _*)
  }

  /**
   * The directories in a directory. Hadoop's `globStatus` would make each path of a name that it has listed, and fails
   * for all directories if one name has a colon.
   */
  private def matching(fileSystem: FileSystem, parent: Path, name: String): Seq[Path] = {
    val filter = new GlobFilter(name)
    if (!filter.hasPattern) Seq(child(parent, name)).filter(isDirectory(fileSystem, _))
    else
      try fileSystem.listStatus(parent).toSeq.filter(_.isDirectory).map(_.getPath).filter(filter.accept)
      catch { case _: FileNotFoundException => Nil }
  }

  /** A path of parts takes a colon for a character, and not for the end of a scheme. */
  private def child(parent: Path, name: String): Path =
    new Path(parent, new Path(null, null, name.replaceAll("\\\\(.)", "$1")))

  private def isDirectory(fileSystem: FileSystem, path: Path): Boolean =
    try fileSystem.getFileStatus(path).isDirectory
    catch { case _: FileNotFoundException => false }
}
