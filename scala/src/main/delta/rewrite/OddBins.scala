package org.apache.spark.sql.delta.upkeep.rewrite

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import io.deltaupkeep.CountText
import io.deltaupkeep.plan.compact.Bin

/**
 * A bin whose new file would differ from its inputs. It stays as it is, and the others go on.
 *
 * @param difference the first one, as sentences
 */
final case class OddBin(bin: Bin, difference: String) {
  def text: String = {
    val (first, partition) = (bin.files.head.path, bin.partition.text)
    val where = if (partition.isEmpty) "" else s" of $partition"
    s"${CountText.of(bin.files.size, "file")}$where from $first on: $difference"
  }
}

/** The odd bins of a run. Thread-safe. */
final class OddBins {
  private val found = new ConcurrentLinkedQueue[OddBin]

  def add(bin: Bin, difference: String): Unit = {
    found.add(OddBin(bin, difference))
    ()
  }

  def all: Seq[OddBin] = found.asScala.toVector
}
