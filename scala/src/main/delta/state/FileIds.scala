package org.apache.spark.sql.delta.upkeep.state

import java.net.URI

import io.deltaupkeep.plan.compact.DataFile

import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.upkeep.read.FilePaths
import org.apache.spark.sql.delta.upkeep.versions.NewFile

/** Identifies the files of a table: the log may name one file by several paths. */
private[upkeep] final class FileIds(snapshot: Snapshot) {

  private lazy val canonicalPath = snapshot.deltaLog.getCanonicalPathFunction(runsOnExecutors = false)

  /** By the canonical path, as Delta's replay identifies files. */
  def idOf(add: AddFile): DataFile.Id = FileKey.of(add, canonicalPath(_))

  /**
   * The file by each path that a removal may use, because Delta's conflict check compares text. Delta
   * removes a file by its canonical path, such as `file:///a`; other writers by the path in the log, such as
   * `/a`.
   */
  def spellings(add: AddFile): Seq[AddFile] =
    if (!FilePaths.isUnusual(add.path)) Seq(add)
    else {
      val canonical = canonicalPath(add.path)
      val bare = new URI(canonical).getRawPath
      val whole = canonicalPath(bare)
      val same = if (new URI(whole) == new URI(canonical)) Seq(bare, whole) else Nil
      (Seq(add.path, canonical) ++ same).distinct.map(path => NewFile.changed(add)(path = path))
    }
}
