package io.deltaupkeep.store

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** Finds tables by where they are. */
object TableDirectories {

  /** The directories that match a glob of Hadoop's, and whether each has a Delta log. */
  def matching(glob: String, conf: Configuration): Seq[(String, Boolean)] = {
    val path = new Path(glob)
    val fileSystem = path.getFileSystem(conf)
    // Hadoop returns null if a path without a glob does not exist.
    val found = Option(fileSystem.globStatus(path)).toSeq.flatten
    found.filter(_.isDirectory).map { directory =>
      directory.getPath.toString -> fileSystem.exists(new Path(directory.getPath, "_delta_log"))
    }
  }
}
