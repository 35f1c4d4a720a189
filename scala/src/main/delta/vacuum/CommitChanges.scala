package org.apache.spark.sql.delta.upkeep.vacuum

import io.deltaupkeep.{SideBySide, UnreadableInput}
import io.deltaupkeep.log.{LogFile, LogFileKind}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.delta.upkeep.read.DeltaLogReader
import org.apache.spark.sql.delta.upkeep.state.{CommitParser, CommitSplit}
import org.apache.spark.sql.delta.upkeep.table.{DamagedAction, DeltaHandle}
import org.apache.spark.sql.types.StructType

/**
 * A deletion vector.
 *
 * @param storage its type
 * @param place   the vector itself, or where it is
 */
private[vacuum] final case class VectorPlace(storage: String, place: String, sizeInBytes: Long)

/**
 * A file that a commit removed, or that it wrote for the change data feed.
 *
 * @param path      as the action spells it
 * @param removedAt milliseconds since the epoch; None for the change data feed
 */
private[vacuum] final case class FileChange(
    version: Long,
    path: String,
    sizeInBytes: Long,
    removedAt: Option[Long],
    vector: Option[VectorPlace]
)

/** Reads on several threads what commits removed, and what they wrote for the change data feed. */
private[vacuum] final class CommitChanges(table: DeltaHandle, log: IndexedSeq[LogFile]) {
  import CommitChanges._

  /**
   * Calls `use` on several threads, in no order.
   *
   * @param isRead whether the commit of a version is read
   * @throws io.deltaupkeep.UnreadableInput a commit is missing or damaged
   */
  def foreach(isRead: Long => Boolean)(use: FileChange => Unit): Unit = read(splits {
    case LogFileKind.Commit(version) if isRead(version) => Some(version)
    case _ => None
  })(use)

  private def read(splits: Seq[(Long, CommitSplit)])(use: FileChange => Unit): Unit = {
    val parsers = ThreadLocal.withInitial[CommitParser] { () =>
      new CommitParser(table.hadoopConf, table.session.sessionState.conf, Schema)
    }
    SideBySide.map(splits, "delta-upkeep-commits", Threads) { case (version, split) =>
      table.session.withActive(UnreadableInput.naming(split.commit.getPath.toString) {
        parsers.get.foreach(split)(row => changeOf(version, row).foreach(use))
      })
    }
    ()
  }

  /** What CLEANUP LOG wrote down of versions between two, or of some before or after them too. */
  def recorded(first: Long, last: Long)(use: FileChange => Unit): Unit = read(splits {
    case LogFileKind.RemovedFiles(from, to) if to >= first && from <= last => Some(to)
    case _ => None
  })(use)

  private def splits(versionOf: LogFileKind => Option[Long]): Seq[(Long, CommitSplit)] =
    log.iterator.flatMap { file =>
      versionOf(file.kind).toSeq.flatMap(version =>
        CommitSplit.of(DeltaLogReader.statusOf(table, file)).map(version -> _)
      )
    }.toVector
}

private object CommitChanges {
  private val Threads = 8

  private val Schema: StructType = StructType(Seq(
    NamedFiles.picked("remove", "path", "size", "deletionTimestamp", "deletionVector"),
    NamedFiles.picked("cdc", "path", "size")
  ))
  private val (ofRemove, ofChange) = (typeOf("remove"), typeOf("cdc"))
  private val ofVector = ofRemove("deletionVector").dataType.asInstanceOf[StructType]
  private val storage = ofVector.fieldIndex("storageType")
  private val place = ofVector.fieldIndex("pathOrInlineDv")
  private val size = ofVector.fieldIndex("sizeInBytes")

  private def typeOf(action: String) = Schema(action).dataType.asInstanceOf[StructType]

  private def changeOf(version: Long, row: InternalRow): Option[FileChange] =
    if (!row.isNullAt(0)) Some(removed(version, row.getStruct(0, ofRemove.size)))
    else
      Option.unless(row.isNullAt(1))(row.getStruct(1, ofChange.size))
        .map(change => FileChange(version, pathOf(change), longAt(change, 1).getOrElse(0L), None, None))

  private def removed(version: Long, remove: InternalRow): FileChange = FileChange(
    version,
    pathOf(remove),
    longAt(remove, 1).getOrElse(0L),
    // A removal without a time has expired, as in Delta.
    Some(longAt(remove, 2).getOrElse(0L)),
    Option.unless(remove.isNullAt(3))(remove.getStruct(3, ofVector.size))
      .filterNot(vector => vector.isNullAt(storage) || vector.isNullAt(place))
      .map { vector =>
        VectorPlace(
          vector.getUTF8String(storage).toString,
          vector.getUTF8String(place).toString,
          if (vector.isNullAt(size)) 0L else vector.getInt(size).toLong
        )
      }
  )

  private def pathOf(action: InternalRow): String = {
    if (action.isNullAt(0)) throw new DamagedAction(new IllegalArgumentException("it has no path"))
    action.getUTF8String(0).toString
  }

  private def longAt(action: InternalRow, ordinal: Int): Option[Long] =
    Option.unless(action.isNullAt(ordinal))(action.getLong(ordinal))
}
