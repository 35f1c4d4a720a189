package org.apache.spark.sql.delta.upkeep.replay

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, FSDataInputStream}

/** A part of a commit: the lines that begin in its bytes from `from` until `to`. */
private[upkeep] final case class LogPiece(commit: FileStatus, from: Long, to: Long) {
  import LogPiece._

  /** Its lines, as they are in the commit. */
  def lines(conf: Configuration): Array[Byte] = {
    val bytes = read(conf)
    // A line that begins before the piece belongs to the one before.
    val before = bytes.indexOf(NewLine)
    if (from == 0) bytes else if (before < 0) Array.emptyByteArray else bytes.drop(before + 1)
  }

  /** From the byte before the piece until the end of its last line. */
  private def read(conf: Configuration): Array[Byte] = {
    val start = math.max(0, from - 1)
    Using.resource(commit.getPath.getFileSystem(conf).open(commit.getPath)) { in =>
      var bytes = fetch(in, start, to)
      while (bytes.nonEmpty && bytes.last != NewLine && start + bytes.length < commit.getLen) {
        val next = start + bytes.length
        val more = fetch(in, next, math.min(commit.getLen, next + MoreBytes))
        val end = more.indexOf(NewLine)
        bytes ++= (if (end < 0) more else more.take(end + 1))
      }
      bytes
    }
  }

  private def fetch(in: FSDataInputStream, start: Long, end: Long): Array[Byte] = {
    val bytes = new Array[Byte](Math.toIntExact(end - start))
    in.readFully(start, bytes)
    bytes
  }
}

private[upkeep] object LogPiece {

  private val NewLine: Byte = '\n'
  private val MoreBytes = 1 << 16

  /** Small enough to be held by each thread, with its actions. */
  private val PieceBytes = 2L << 20

  /**
   * Pieces of a commit, in order.
   *
   * @param bytes of each
   */
  def of(commit: FileStatus, bytes: Long = PieceBytes): Seq[LogPiece] =
    (0L until commit.getLen by bytes).map { from =>
      LogPiece(commit, from, math.min(commit.getLen, from + bytes))
    }
}
