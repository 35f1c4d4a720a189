package io.deltaupkeep.store

import java.util

import scala.jdk.CollectionConverters._

import io.delta.storage.LocalLogStore
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/**
 * A store whose requests may fail though they took place, as after a retry that nobody hears of: what the writer
 * of a commit of OPTIMIZE is told is for a test to choose.
 */
class RetriedLogStore(conf: Configuration) extends LocalLogStore(conf) {

  override def write(
      path: Path,
      actions: util.Iterator[String],
      overwrite: java.lang.Boolean,
      hadoopConf: Configuration
  ): Unit = {
    val lines = actions.asScala.toList
    def write(): Unit = super.write(path, lines.iterator.asJava, overwrite, hadoopConf)
    if (lines.exists(_.contains("\"operation\":\"OPTIMIZE\""))) RetriedLogStore.request(path, () => write())
    else write()
  }
}

object RetriedLogStore {

  type Request = (Path, () => Unit) => Unit

  private val plain: Request = (_, write) => write()

  @volatile private var request: Request = plain

  /** Runs something while each commit of OPTIMIZE goes through the request. */
  def through[T](request: Request)(body: => T): T = {
    this.request = request
    try body
    finally this.request = plain
  }
}
