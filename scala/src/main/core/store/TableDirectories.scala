package io.deltaupkeep.store

import scala.collection.mutable

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** Finds tables by location. */
object TableDirectories {

  /** The directories that match a glob of Hadoop's, and whether each has a Delta log, in the order of their names. */
  def matching(glob: String, conf: Configuration): mutable.Map[String, Boolean] = {
    val path = new Path(glob)
    val fileSystem = path.getFileSystem(conf)
    // Hadoop returns null if a path without a glob does not exist.
    val found = Option(fileSystem.globStatus(path)).toSeq.flatten
    val directories = found.filter(_.isDirectory).map(_.getPath)
    mutable.LinkedHashMap(directories.map { directory =>
      directory.toString -> fileSystem.exists(new Path(directory, "_delta_log"))
    }: _*)
  }
}
