package io.deltaupkeep.store

import java.nio.file.{Files, Path => LocalPath}
import java.util

import io.delta.storage.LocalLogStore
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/** Commits to the local file system from several processes: a link, other than a rename, replaces nothing. */
class LinkLogStore(conf: Configuration) extends LocalLogStore(conf) {

  override def write(
      path: Path,
      actions: util.Iterator[String],
      overwrite: java.lang.Boolean,
      hadoopConf: Configuration
  ): Unit =
    if (overwrite) super.write(path, actions, overwrite, hadoopConf)
    else {
      val temporary = createTempPath(path)
      super.write(temporary, actions, false, hadoopConf)
      try Files.createLink(local(path), local(temporary))
      finally Files.delete(local(temporary))
      ()
    }

  private def local(path: Path): LocalPath = LocalPath.of(path.toUri.getPath)
}
