package io.deltaupkeep.plan.analyze

import io.deltaupkeep.{ByteText, CountText}

/** Why a file is read for its statistics, or left alone. */
sealed abstract class AnalyzeReason(val isRead: Boolean, val text: String) extends Serializable

object AnalyzeReason {
  case object NoStatistics extends AnalyzeReason(true, "no statistics")
  case object NoRows extends AnalyzeReason(true, "the number of rows is missing")
  case object NoColumn
      extends AnalyzeReason(true, "a column that the table collects statistics of is missing")
  case object Asked extends AnalyzeReason(true, "mode is all")

  /** What a run with the mode 'all' finds. */
  case object Different
      extends AnalyzeReason(true, "its statistics were not those of its rows, or written in another way")
  case object Same extends AnalyzeReason(true, "its statistics are those of its rows")

  case object Complete extends AnalyzeReason(false, "has what the table asks for")
  case object Limit extends AnalyzeReason(false, "left to a later run by maxBytes")
  case object Overtaken extends AnalyzeReason(true, "another writer changed or removed it meanwhile")

  /** @param why the problem, with the name of the file */
  final case class Unreadable(why: String) extends AnalyzeReason(true, s"left alone: $why")
}

/** @param path as the log spells it, with the id of its deletion vector if it has one */
final case class AnalyzedFile(path: String, sizeInBytes: Long, reason: AnalyzeReason)

/** What an ANALYZE does with each file that was selected. */
final case class AnalyzePlan(files: IndexedSeq[AnalyzedFile]) {

  val toRead: IndexedSeq[AnalyzedFile] = files.filter(_.reason.isRead)

  def message: String = {
    val bytes = ByteText.of(toRead.map(_.sizeInBytes).sum)
    val unreadable = files.count(_.reason.isInstanceOf[AnalyzeReason.Unreadable])
    val but = if (unreadable == 0) "" else s", but cannot read ${CountText.of(unreadable, "file")}"
    if (toRead.isEmpty) s"the statistics of ${CountText.of(files.size, "file")} are complete"
    else s"reads ${CountText.of(toRead.size, "file")} of ${files.size}, $bytes$but"
  }

  /** Leaves files to a later run, in the order in which they are read. */
  def limitedTo(maxBytes: Long): AnalyzePlan = {
    val before =
      files.scanLeft(0L)((bytes, file) => if (file.reason.isRead) bytes + file.sizeInBytes else bytes)
    AnalyzePlan(files.zip(before).map {
      case (file, read) if file.reason.isRead && read > 0 && read + file.sizeInBytes > maxBytes =>
        file.copy(reason = AnalyzeReason.Limit)
      case (file, _) => file
    })
  }

  /** What a run found instead. */
  def withReasons(found: Map[String, AnalyzeReason]): AnalyzePlan =
    AnalyzePlan(files.map(file => found.get(file.path).fold(file)(reason => file.copy(reason = reason))))
}
