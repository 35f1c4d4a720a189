package org.apache.spark.sql.delta.upkeep.table

import java.io.{EOFException, FileNotFoundException}
import java.nio.file.NoSuchFileException

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import io.deltaupkeep.{UnreadableInput, UpkeepErrors, UpkeepException}

import org.apache.hadoop.fs.ChecksumException
import org.apache.parquet.hadoop.BadConfigurationException
import org.apache.parquet.io.ParquetDecodingException

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.DeltaChecksumException
import org.apache.spark.sql.delta.catalog.DeltaTableV2
import org.apache.spark.sql.delta.upkeep.spark.SparkApi
import org.apache.spark.sql.execution.datasources.SchemaColumnConvertNotSupportedException

/** A file has a column, but none of the fields that the table has in it. */
private[upkeep] final class NoSharedField(val column: String) extends RuntimeException(column)

/** A line or a row of the log cannot be read as an action. */
private[upkeep] final class DamagedAction(thrown: Throwable)
    extends RuntimeException(s"one of its actions cannot be read: ${thrown.getMessage}", thrown)

private[upkeep] object DamagedAction {

  /** Decodes what is already in memory, so that a failure means damaged bytes and not a store at fault. */
  def in[T](decode: => T): T =
    try decode
    catch { case NonFatal(e) => throw new DamagedAction(e) }

  /** Reads the log by Delta's own code alone, which does not expect an action that lacks a field. */
  def inDelta[T](read: => T): T =
    try read
    catch { case NonFatal(e) if lacksField(e) => throw new DamagedAction(e) }

  private def lacksField(failure: Throwable): Boolean = failure match {
    case _: NullPointerException => true
    case e: IllegalArgumentException =>
      Option(e.getMessage).exists(_.startsWith("Expected a non-null value"))
    case _ => false
  }
}

/** Tells a user which file of a table a statement could not read, in place of a task's failure. */
object InputFailures {

  /** What went wrong, and with which file. */
  private final case class Fault(file: String, cause: Throwable, ofSplice: Boolean)

  /** Runs a statement on the table of a plan. */
  def explained[T](statement: String, plan: LogicalPlan)(body: => T): T =
    Plans.tableIn(plan).fold(body)(explained(statement, _)(body))

  private[upkeep] def explained[T](statement: String, table: DeltaTableV2)(body: => T): T =
    try body
    catch {
      case NonFatal(failure) =>
        throw ours(failure)
          .orElse(named(statement, table, failure))
          .orElse(ofLog(statement, DeltaHandle.nameOf(table), failure))
          .getOrElse(failure)
    }

  /** The error that names the data file that could not be read; None if something else failed. */
  private[upkeep] def named(
      statement: String,
      table: DeltaTableV2,
      failure: Throwable
  ): Option[UpkeepException] = {
    val name = DeltaHandle.nameOf(table)
    ofDataFile(statement, name, table.deltaLog.unsafeVolatileSnapshot.version, failure).orElse(
      Unreadable.unapply(failure).map(UpkeepErrors.dataFileUnreadable(statement, name, _, failure))
    )
  }

  /** Our own error, thrown by a task and wrapped by Spark. */
  private def ours(failure: Throwable): Option[Throwable] =
    causesOf(failure).collectFirst { case e: UpkeepException => e }

  private def ofDataFile(
      statement: String,
      table: String,
      version: Long,
      failure: Throwable
  ): Option[UpkeepException] =
    causesOf(failure).collectFirst(fault).filterNot(isOfLog).flatMap { fault =>
      if (isMissing(fault.cause))
        Some(UpkeepErrors.dataFileMissing(statement, table, version, fault.file, failure))
      else damage(fault.cause).map { what =>
        UpkeepErrors.dataFileDamaged(statement, table, version, fault.file, what, fault.ofSplice, failure)
      }
    }

  /** The error for a log that is not whole, if that is why it cannot be read. */
  def ofLog(statement: String, table: String, failure: Throwable): Option[Throwable] = {
    val named = causesOf(failure).collectFirst {
      case e: Throwable with SparkThrowable if DamagedLog.contains(SparkApi.condition(e)) => e.getMessage
      // Delta opens sidecars itself.
      case e @ (_: FileNotFoundException | _: NoSuchFileException)
          if Option(e.getMessage).exists(_.contains(LogDirectory)) => e.getMessage
    }
    def ofFile = causesOf(failure).collectFirst(fault).filter(isOfLog).flatMap { fault =>
      val what = if (isMissing(fault.cause)) Some("it does not exist") else damage(fault.cause)
      what.map(problem => s"${fault.file}: $problem")
    }
    def ofAction = causesOf(failure).collectFirst { case action: DamagedAction => action.getMessage }
    // Spark 3.5 names a file with a damaged footer in the text alone.
    def ofText =
      if (damage(failure).isEmpty) None
      else causesOf(failure).flatMap(e => Option(e.getMessage)).reverseIterator.find(_.contains(LogDirectory))
    val problem = named.orElse(ofFile).orElse(ofAction).orElse(ofText)
    problem.map(UpkeepErrors.logDamaged(statement, table, _, failure))
  }

  /** Runs what only reads the log, by Delta's code. */
  private[upkeep] def explainedLog[T](statement: String, table: String)(read: => T): T =
    try DamagedAction.inDelta(read)
    catch { case NonFatal(e) => throw ofLog(statement, table, e).getOrElse(e) }

  /** Why Spark can never read a data file, although it is undamaged. */
  private[upkeep] object Unreadable {
    def unapply(failure: Throwable): Option[String] =
      causesOf(failure).collectFirst(fault).filterNot(isOfLog).flatMap { fault =>
        val causes = causesOf(fault.cause)
        // Either another run may read it, or nobody can.
        if (causes.exists(_.isInstanceOf[Error]) || isMissing(fault.cause) || damage(fault.cause).isDefined)
          None
        else causes.collectFirst(Function.unlift(reason(fault.file, _)))
      }

    private def reason(file: String, cause: Throwable): Option[String] = cause match {
      case lacking: NoSharedField =>
        Some(
          s"Spark may confuse the columns of $file: it has ${lacking.column} without any of the fields of the table"
        )
      case e: SchemaColumnConvertNotSupportedException =>
        val types = s"${e.getLogicalType}: it is stored as ${e.getPhysicalType}"
        Some(s"Spark cannot read column ${e.getColumn} of $file as $types")
      case e: ArithmeticException =>
        Some(s"a value in $file does not fit the type of its column: ${e.getMessage}")
      case e: RuntimeException
          if e.isInstanceOf[BadConfigurationException] || isOfSparksReader(e) ||
            Option(e.getMessage).exists(_.startsWith(Duplicates)) =>
        Some(s"Spark cannot read $file: ${Option(e.getMessage).getOrElse(e.toString)}")
      case _ => None
    }
  }

  private def isOfSparksReader(thrown: Throwable): Boolean =
    thrown.getStackTrace.headOption.map(_.getClassName).exists { name =>
      name.startsWith("org.apache.spark.sql.execution.datasources.parquet.") ||
      name.startsWith("org.apache.spark.sql.execution.vectorized.")
    }

  private val Duplicates = "Found duplicate field(s)"

  /** What is wrong with a file of the log, as `damage`; it may also be missing. */
  private[upkeep] def damageOfLog(failure: Throwable): Option[String] =
    if (isMissing(failure)) Some(s"a file is missing: ${causesOf(failure).last.getMessage}")
    else damage(failure)

  /** What is wrong with the bytes of a data file or a deletion vector; None if something else may be at fault. */
  private[upkeep] def damageOf(failure: Throwable): Option[String] =
    if (isMissing(failure)) None else damage(failure)

  /** Matches a failure that shows that a data file is damaged. */
  private[upkeep] object Damaged {
    def unapply(failure: Throwable): Option[String] = damageOf(failure)
  }

  /** Whether a data file is damaged, and the failure does not say which: Spark 3.5 names no file with a damaged footer. */
  private[upkeep] def isUnnamed(failure: Throwable): Boolean =
    damageOf(failure).nonEmpty && causesOf(failure).collectFirst(fault).isEmpty

  /** Whether a value was too large for the type of its column. */
  private[upkeep] def isOfValue(failure: Throwable): Boolean =
    causesOf(failure).exists(_.isInstanceOf[ArithmeticException])

  private def isOfLog(fault: Fault): Boolean = fault.file.contains(LogDirectory)

  private val LogDirectory = "/_delta_log/"

  private val DamagedLog = Set(
    "DELTA_CHECKPOINT_NON_EXIST_TABLE",
    "DELTA_CHECKPOINT_SNAPSHOT_MISMATCH",
    "DELTA_LOG_FILE_NOT_FOUND",
    "DELTA_MISSING_PART_FILES",
    "DELTA_NO_COMMITS_FOUND",
    "DELTA_NO_RECREATABLE_HISTORY_FOUND",
    "DELTA_STATE_RECOVER_ERROR",
    "DELTA_TRUNCATED_TRANSACTION_LOG",
    "DELTA_TXN_LOG_FAILED_INTEGRITY",
    "DELTA_VERSIONS_NOT_CONTIGUOUS"
  )

  private val fault: PartialFunction[Throwable, Fault] = {
    case e: UnreadableInput => Fault(e.file, e.getCause, e.ofSplice)
    case e: Throwable with SparkThrowable if isOfReader(e) =>
      val parameters = e.getMessageParameters.asScala
      Fault(parameters.get("path").orElse(parameters.get("filePath")).getOrElse(""), e, ofSplice = false)
    // Delta opens footers itself for REORG.
    case e @ Missing(file) => Fault(file, e, ofSplice = false)
  }

  private object Missing {
    def unapply(e: FileNotFoundException): Option[String] = Option(e.getMessage).flatMap(locationIn)
  }

  /** The file that the message of a file system names. */
  private[table] def locationIn(message: String): Option[String] = Location.findFirstIn(message)

  /** Names may have blanks. What follows one differs from store to store. */
  private val Location = """(?m)\b[a-z][a-z0-9]*:/.+?(?=:? does not exist|: |'\.|:?$)""".r

  private def isOfReader(e: SparkThrowable): Boolean = Option(SparkApi.condition(e)).exists { condition =>
    condition.startsWith("FAILED_READ_FILE") || Before40.contains(condition)
  }

  /** The same in Spark 3.5: for a column of another type, and for all other failures. */
  private val Before40 = Set("_LEGACY_ERROR_TEMP_2063", "_LEGACY_ERROR_TEMP_2064")

  private def causesOf(e: Throwable): Seq[Throwable] =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).toSeq

  private def isMissing(e: Throwable): Boolean = causesOf(e).exists {
    case _: FileNotFoundException | _: NoSuchFileException => true
    case _ => false
  }

  /** What is wrong with the bytes of a file; none if the store, the engine or a setting may be at fault. */
  private def damage(e: Throwable): Option[String] =
    causesOf(e).collectFirst { case action: DamagedAction => action.getMessage }.orElse(damage(causesOf(e)))

  private def damage(causes: Seq[Throwable]): Option[String] = causes.last match {
    case end: EOFException if !isOfNetwork(end) => Some("it ends too early")
    // For example for a codec that Spark lacks.
    case _: ReflectiveOperationException | _: LinkageError => None
    case thrown
        if thrown.isInstanceOf[ChecksumException] || thrown.isInstanceOf[DeltaChecksumException] ||
          thrown.isInstanceOf[ParquetDecodingException] || isOfReaders(thrown) =>
      Some(Option(thrown.getMessage).getOrElse(thrown.getClass.getSimpleName))
    case _ => None
  }

  /** Whether it was a connection to a store that ended, not a file. */
  private def isOfNetwork(end: EOFException): Boolean =
    end.getStackTrace.map(_.getClassName).find(!isOfJava(_)).exists(name =>
      Clients.exists(name.startsWith(_))
    )

  private val Clients = Seq(
    "org.apache.hadoop.ipc.",
    "org.apache.hadoop.hdfs.protocolPB.",
    "org.apache.http.",
    "com.amazonaws.",
    "software.amazon.awssdk.",
    "com.google.",
    "com.azure.",
    "com.microsoft.azure.",
    "io.netty.",
    "okhttp3."
  )

  /**
   * Whether it was thrown by code that only reads the bytes of a file: a format, or a codec. The keys of an
   * encrypted file come from a service, which may fail.
   */
  private def isOfReaders(thrown: Throwable): Boolean =
    thrown.getClass.getName.startsWith("io.deltaupkeep.parquet.") ||
      thrown.getStackTrace.map(_.getClassName).find(!isOfJava(_)).exists { name =>
        Readers.exists(name.startsWith(_)) && !name.startsWith("org.apache.parquet.crypto.")
      }

  private def isOfJava(name: String): Boolean =
    Java.exists(name.startsWith(_)) && !name.startsWith("java.util.zip.")

  /** TLS is in the last two. */
  private val Java = Seq("java.", "jdk.", "javax.", "sun.")

  private val Readers = Seq(
    "org.apache.parquet.",
    "org.apache.spark.sql.delta.deletionvectors.",
    "org.roaringbitmap.",
    "shaded.parquet.",
    "org.xerial.snappy.",
    "com.github.luben.zstd.",
    "io.airlift.compress.",
    "java.util.zip.",
    "com.fasterxml.jackson."
  )
}
