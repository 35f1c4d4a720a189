package org.apache.spark.sql.delta.upkeep.files

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.{AtomicLong, LongAccumulator, LongAdder}

import scala.jdk.CollectionConverters._

import io.deltaupkeep.FileTotal
import io.deltaupkeep.log.ReplayPlace
import io.deltaupkeep.plan.compact.{DataFile, Partition}

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.{DeltaLog, RowId}
import org.apache.spark.sql.delta.upkeep.state.DriverFiles
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, Partitions}
import org.apache.spark.sql.types.{IntegerType, LongType, MapType, StringType, StructField, StructType}

/**
 * Finds files on the driver, by the columns that choose files. Of a checkpoint's bytes, most are statistics, and these are
 * read only if row ids, or the share of deleted rows, depend on them. Call [[result]] once.
 *
 * @param keep   the files that may be chosen; of the others only the number is kept
 * @param window those of them that are wanted, or None for all
 * @param most   how many are found at once, if all are wanted
 */
private[files] final class FileSearch(
    handle: DeltaHandle,
    predicate: Seq[Expression],
    keep: DataFile => Boolean,
    window: Option[FileWindow],
    most: Long
) {
  import FileSearch._

  private val log = new DriverFiles(handle)
  private val partitions = new Partitions(handle.snapshot.metadata)
  private val hasRowIds = RowId.isSupported(handle.snapshot.protocol)
  private val highestRowId = new LongAccumulator(math.max(_, _), -1L)
  private val tallies = new ConcurrentHashMap[Partition, Tally]
  private val held = new AtomicLong

  /**
   * What was found, or why it is not all. If there are too many files, they are only counted, and the result has windows of
   * them in place of files.
   *
   * @throws io.deltaupkeep.UnreadableInput a file of the log is missing or damaged
   */
  def result: Either[String, DataFiles] = {
    val newer = log.inCommits(read(_ => true))
    val older = log.inCheckpoint(if (hasRowIds) WithRowIds else Chosen)(read(mayMatter))
    val found = tallies.values.asScala.map(_.all.sum).sum
    val isTooMany = held.get > most
    handle.snapshot.checksumOpt.map(_.numFiles).filter(_ != found).map { counted =>
      s"the driver found $found files, but the version's checksum counts $counted"
    }.toLeft {
      val isLeftOut = found > newer.size + older.size
      val isChosen = chosen
      val entries =
        if (isTooMany) Nil
        else withVectors(newer ++ older, isLeftOut).filter(file => isChosen(file.partition))
      val files = DataFiles.distinct(entries)
      val considered = tallies.asScala.toSeq.filter(of => isChosen(of._1))
      DataFiles(
        files,
        considered = considered.map(_._2.all.sum).sum.toInt - (entries.size - files.size),
        Option.when(hasRowIds)(highestRowId.get),
        ReplayPlace.OnDriver,
        if (isTooMany)
          FileWindow.of(
            considered.map { case (partition, tally) => partition -> tally.candidates }.filter(
              _._2.files > 0
            ),
            most
          )
        else Nil
      )
    }
  }

  private def read(keep: DataFile => Boolean): DriverFiles.Make[DataFile] = { fields =>
    val file = new DataFileReader(fields, partitions.of(_: Map[String, String]))
    (add, path) => {
      if (hasRowIds) highestRowId.accumulate(file.lastRowId(add))
      val found = file(add, path)
      val tally = tallies.computeIfAbsent(found.partition, _ => new Tally)
      tally.all.increment()
      if (keep(found) && isWanted(found, tally)) Some(found) else None
    }
  }

  /** The log may name a file twice, with different deletion vectors, and both have to be known. */
  private def mayMatter(file: DataFile): Boolean = file.deletionVector.nonEmpty || keep(file)

  private def isWanted(file: DataFile, tally: Tally): Boolean = window match {
    case Some(of) => of.has(file)
    case None if mayMatter(file) =>
      tally.files.increment()
      tally.bytes.add(file.sizeInBytes)
      held.incrementAndGet() <= most
    case None => held.get <= most
  }

  /**
   * All entries of files with deletion vectors. Whether such a file has too many deleted rows is known by the number of all,
   * which may be in its statistics alone.
   */
  private def withVectors(files: Seq[DataFile], isLeftOut: Boolean): Seq[DataFile] = {
    val vectors = files.filter(_.deletionVector.nonEmpty)
    if (vectors.isEmpty || !isLeftOut && vectors.forall(_.physicalRows.nonEmpty)) files
    else {
      val paths = vectors.iterator.map(_.path).toSet
      val again = log.inCheckpoint(WithRows, Some(paths)) { fields =>
        val file = new DataFileReader(fields, partitions.of(_: Map[String, String]))
        (add, path) => Option.when(paths(path.toString))(file(add, path))
      }
      val ids = again.iterator.map(_.id).toSet
      files.filterNot(file => paths(file.path) && ids(file.id)) ++ again
    }
  }

  /** The partitions that the predicate selects, by Delta's own evaluation of it, once for each spelling of one. */
  private def chosen: Partition => Boolean =
    if (predicate.isEmpty) _ => true
    else {
      val spellings = partitions.all.toIndexedSeq
      val rows = spellings.zipWithIndex.map { case ((values, _), number) => Row(values, number) }
      val selected = FilePredicate.evaluated(handle, predicate) {
        val all = handle.session.createDataFrame(rows.asJava, Spellings)
        DeltaLog.filterFileList(handle.snapshot.metadata.partitionSchema, all, predicate).select("number")
          .collect()
      }
      selected.iterator.map(row => spellings(row.getInt(0))._2).toSet
    }
}

private object FileSearch {
  import DriverFiles.fields

  /** The files of a partition, counted by several threads: all of them, and those that may be chosen. */
  private final class Tally {
    val all, files, bytes = new LongAdder
    def candidates: FileTotal = FileTotal(files.sum, bytes.sum)
  }

  /** The number of rows, where a checkpoint has it as a number. */
  private val Parsed = StructField("stats_parsed", StructType(Seq(StructField("numRecords", LongType))))

  private val Chosen =
    fields("path", "partitionValues", "size", "modificationTime", "tags", "deletionVector").add(Parsed)

  val WithRows: StructType = StructType(Chosen ++ fields("stats"))
  private val WithRowIds = StructType(WithRows ++ fields("baseRowId"))

  private val Spellings = new StructType()
    .add("partitionValues", MapType(StringType, StringType))
    .add("number", IntegerType)
}
