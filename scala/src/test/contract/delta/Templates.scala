package org.apache.spark.sql.delta.upkeep

import java.io.File
import java.nio.file.Files

import scala.collection.mutable

import org.apache.commons.io.FileUtils
import org.apache.hadoop.fs.Path

/** Tables that many tests begin with: built once by this process, and copied. */
private[upkeep] object Templates {

  private val built = mutable.Map.empty[Any, String]

  /**
   * Makes a table that is as `build` would make it.
   *
   * @param to    a path that has no files yet
   * @param shape whatever `build` depends on, but for the settings of the session
   * @param build builds it at a path of the same file system, the first time that the shape is asked for
   */
  def copy(to: String, shape: Any)(build: String => Unit): Unit = synchronized {
    val scheme = Option(new Path(to).toUri.getScheme).fold("")(_ + "://")
    val key = (scheme, shape, TestSession.spark.conf.getAll)
    val template = built.getOrElse(
      key, {
        val path = scheme + Files.createTempDirectory(TestSession.root.toPath, "template").resolve("table")
        build(path)
        built(key) = path
        path
      }
    )
    require(!fileOf(to).exists(), to)
    // With times: those of commits go by them.
    FileUtils.copyDirectory(fileOf(template), fileOf(to))
  }

  private def fileOf(path: String): File = new File(new Path(path).toUri.getPath)
}
