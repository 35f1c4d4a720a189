package io.deltaupkeep

import org.apache.spark.sql.AnalysisException

/** What a user is told about an error, as sentences, and whether the statement may be run again. */
final case class ErrorText(problem: String, cause: String, fix: String, retry: Retry)

/**
 * An error that a user can act on. Its condition is `DELTA_UPKEEP.<NAME>`, its SQLSTATE follows
 * Spark's table of states, and its message says the problem, the cause and the fix, in this order.
 */
final class UpkeepException private[deltaupkeep] (
    val name: String,
    sqlState: String,
    val text: ErrorText,
    parameters: Map[String, String],
    cause: Option[Throwable]
) extends AnalysisException(
      s"[DELTA_UPKEEP.$name] ${text.problem} ${text.cause} ${text.fix} SQLSTATE: $sqlState",
      None,
      None,
      cause,
      Some(s"DELTA_UPKEEP.$name"),
      parameters,
      Array.empty
    ) {

  // Spark looks up the states of its own conditions only.
  override def getSqlState: String = sqlState

  /** The same error with what Delta throws for the same mistake as its cause. */
  def causedBy(thrown: Throwable): UpkeepException =
    new UpkeepException(name, sqlState, text, parameters, Some(thrown))
}

/** Every error that a user of Delta Upkeep can meet, and nothing else. */
object UpkeepErrors {

  private object SqlState {
    val FeatureNotSupported = "0A000"
    val InvalidParameter = "22023"
    val Unauthorized = "42501"
    val SyntaxOrAccess = "42000"
    val UnknownColumn = "42703"
    val WrongObject = "42809"
    val UndefinedParameter = "42P02"
    val UnknownOption = "42616"
    val Conflict = "40001"
    val ObjectState = "55000"
    val Io = "58030"
    val Internal = "XX000"
  }

  private def error(
      name: String,
      sqlState: String,
      problem: String,
      cause: String,
      fix: String,
      retry: Retry,
      parameters: Map[String, String],
      thrown: Option[Throwable] = None
  ): UpkeepException =
    new UpkeepException(name, sqlState, ErrorText(problem, cause, fix, retry), parameters, thrown)

  def emptyName(statement: String): UpkeepException = error(
    "EMPTY_NAME",
    SqlState.SyntaxOrAccess,
    s"$statement does not say which table.",
    "The name or path of the table, or a part of the name, is empty.",
    "Give the table's name, or the path of its directory.",
    Retry.No,
    Map("statement" -> statement)
  )

  def sessionSwitchedOff(statement: String, setting: String, value: String): UpkeepException = error(
    "SWITCHED_OFF",
    SqlState.ObjectState,
    s"$statement cannot run in this session.",
    s"Delta Upkeep is switched off: $setting is '$value'.",
    s"Set $setting = true, or use a statement of Delta.",
    Retry.Once("the setting is true"),
    Map("statement" -> statement, "value" -> value)
  )

  def tableSwitchedOff(statement: String, table: String, property: String, value: String): UpkeepException =
    error(
      "SWITCHED_OFF",
      SqlState.ObjectState,
      s"$statement leaves $table alone.",
      s"Delta Upkeep is switched off for this table: its property $property is '$value'.",
      s"Remove the property, with ALTER TABLE ... UNSET TBLPROPERTIES ('$property').",
      Retry.Once("the property is removed"),
      Map("statement" -> statement, "table" -> table, "value" -> value)
    )

  def notADeltaTable(statement: String, table: String, thrown: Throwable): UpkeepException = error(
    "NOT_A_DELTA_TABLE",
    SqlState.WrongObject,
    s"$statement cannot run on $table: it is not a Delta table.",
    "There is no Delta log at that location, or the catalog lists the table in another format.",
    "Check the name or path. CONVERT TO DELTA turns a Parquet table into a Delta table.",
    Retry.No,
    Map("statement" -> statement, "table" -> table),
    Some(thrown)
  )

  def notADeltaTableAt(
      statement: String,
      table: String,
      location: String,
      thrown: Throwable
  ): UpkeepException = error(
    "NOT_A_DELTA_TABLE",
    SqlState.WrongObject,
    s"$statement cannot run on $table: it is not a Delta table.",
    s"The path is relative. In this session it means $location, where there is no Delta log.",
    "Give the absolute path.",
    Retry.No,
    Map("statement" -> statement, "table" -> table, "location" -> location),
    Some(thrown)
  )

  def noDeltaLog(statement: String, table: String, thrown: Option[Throwable]): UpkeepException = error(
    "NO_DELTA_LOG",
    SqlState.ObjectState,
    s"$statement cannot run on $table: there is no Delta log at its location.",
    "The catalog lists the table, but its files were deleted or moved.",
    "If they were moved, use ALTER TABLE ... SET LOCATION; if they were deleted, use DROP TABLE.",
    Retry.Once("the files are back, or the catalog has their new location"),
    Map("statement" -> statement, "table" -> table),
    thrown
  )

  def viewNotSupported(statement: String, view: String): UpkeepException = error(
    "VIEW_NOT_SUPPORTED",
    SqlState.WrongObject,
    s"$statement cannot run on the view $view.",
    "A view has no files and no log of its own.",
    "Name the Delta table that the view reads.",
    Retry.No,
    Map("statement" -> statement, "view" -> view)
  )

  def timeTravelNotSupported(statement: String, table: String): UpkeepException = error(
    "TIME_TRAVEL_NOT_SUPPORTED",
    SqlState.FeatureNotSupported,
    s"$statement cannot run on an old version of $table.",
    "Maintenance works on the newest version only.",
    "Remove the version or timestamp from the name.",
    Retry.No,
    Map("statement" -> statement, "table" -> table)
  )

  def unsupportedFeature(
      statement: String,
      table: String,
      features: Seq[String],
      thrown: Option[Throwable]
  ): UpkeepException = error(
    "UNSUPPORTED_TABLE_FEATURE",
    SqlState.FeatureNotSupported,
    s"$statement cannot run on $table.",
    s"The table requires features that this version does not support: ${features.sorted.mkString(", ")}.",
    "Use a newer Delta Lake and Delta Upkeep, or DROP FEATURE where the table allows it.",
    Retry.Once("a newer version is used, or the features are dropped"),
    Map("statement" -> statement, "table" -> table, "features" -> features.sorted.mkString(", ")),
    thrown
  )

  def unsupportedDelta(statement: String, problem: String, fix: String): UpkeepException = error(
    "UNSUPPORTED_DELTA",
    SqlState.FeatureNotSupported,
    s"$statement cannot run with this Delta Lake.",
    problem,
    fix,
    Retry.Once("another version of Delta Lake is used"),
    Map("statement" -> statement)
  )

  def adaptiveMetadata(statement: String, table: String): UpkeepException = error(
    "ADAPTIVE_METADATA_TABLE",
    SqlState.FeatureNotSupported,
    s"$statement cannot run on $table.",
    "The table keeps its metadata in an adaptive metadata tree, which has no Delta log and no checkpoints.",
    "Use the maintenance of the catalog or of the writers that manage it.",
    Retry.No,
    Map("statement" -> statement, "table" -> table)
  )

  def catalogManaged(statement: String, table: String, thrown: Option[Throwable]): UpkeepException = error(
    "CATALOG_MANAGED_TABLE",
    SqlState.FeatureNotSupported,
    s"$statement cannot run on the catalog-managed table $table.",
    "Its catalog decides on file rewrites and log cleanup (Delta protocol, 'Maintenance Operations on " +
      "Catalog-managed Tables'), and this version cannot ask it for permission.",
    "Use the catalog's own maintenance. CHECKPOINT and DESCRIBE HEALTH can run on this table.",
    Retry.No,
    Map("statement" -> statement, "table" -> table),
    thrown
  )

  def catalogManagedByPath(statement: String, table: String, thrown: Throwable): UpkeepException = error(
    "CATALOG_MANAGED_TABLE_BY_PATH",
    SqlState.WrongObject,
    s"$statement cannot reach $table by its path.",
    "The table is catalog-managed: only its catalog knows its newest version.",
    "Use the table's name in the catalog.",
    Retry.No,
    Map("statement" -> statement, "table" -> table),
    Some(thrown)
  )

  def unknownOption(statement: String, option: String, known: Seq[String]): UpkeepException = {
    val choices =
      if (known.isEmpty) s"$statement takes no options." else s"Use one of: ${known.mkString(", ")}."
    error(
      "UNKNOWN_OPTION",
      SqlState.UnknownOption,
      s"$statement has no option '$option'.",
      "Option names are not case-sensitive.",
      choices,
      Retry.No,
      Map("statement" -> statement, "option" -> option, "known" -> known.mkString(", "))
    )
  }

  def invalidOption(statement: String, option: String, value: String, expected: String): UpkeepException =
    error(
      "INVALID_OPTION",
      SqlState.InvalidParameter,
      s"$statement cannot use '$value' for the option '$option'.",
      s"The option takes $expected.",
      "Change the value or remove the option.",
      Retry.No,
      Map("statement" -> statement, "option" -> option, "value" -> value, "expected" -> expected)
    )

  def duplicateOption(statement: String, option: String): UpkeepException = error(
    "DUPLICATE_OPTION",
    SqlState.SyntaxOrAccess,
    s"$statement names the option '$option' more than once.",
    "Option names are not case-sensitive, and each can be given once.",
    "Remove all but one of them.",
    Retry.No,
    Map("statement" -> statement, "option" -> option)
  )

  def invalidPredicate(predicate: String, thrown: Throwable): UpkeepException = error(
    "INVALID_PREDICATE",
    SqlState.SyntaxOrAccess,
    s"OPTIMIZE cannot use the predicate '$predicate'.",
    Option(thrown.getMessage).flatMap(_.linesIterator.find(_.nonEmpty))
      .fold("It is not a SQL expression.")(sentence),
    "Write a condition on columns, such as WHERE day >= '2026-01-01'.",
    Retry.No,
    Map("predicate" -> predicate),
    Some(thrown)
  )

  /** @param reason a sentence */
  def uncertainPredicate(predicate: String, reason: String): UpkeepException = error(
    "INVALID_PREDICATE",
    SqlState.SyntaxOrAccess,
    s"OPTIMIZE cannot use the predicate '$predicate'.",
    reason,
    "Write a condition on the names of columns, such as WHERE day >= '2026-01-01' DRY RUN.",
    Retry.No,
    Map("predicate" -> predicate)
  )

  /** A line of Spark's messages without its state and place, which belong to a plan that the user did not write. */
  private def sentence(line: String): String =
    line.replaceFirst("( SQLSTATE: \\w{5})?(; line \\d+ pos \\d+)?;?$", "").stripSuffix(".") + "."

  def subqueryInPredicate(predicate: String): UpkeepException = error(
    "SUBQUERY_IN_PREDICATE",
    SqlState.FeatureNotSupported,
    s"OPTIMIZE cannot run with the predicate '$predicate'.",
    "It contains a subquery, but OPTIMIZE chooses files from the log alone.",
    "Compute the values first and write them into the predicate.",
    Retry.No,
    Map("predicate" -> predicate)
  )

  def nondeterministicPredicate(predicate: String): UpkeepException = error(
    "NONDETERMINISTIC_PREDICATE",
    SqlState.FeatureNotSupported,
    s"OPTIMIZE cannot run with the predicate '$predicate'.",
    "It calls a function that returns another value each time, such as rand(), so it does not say which files " +
      "are meant.",
    "Remove the function. current_date() and the like are allowed.",
    Retry.No,
    Map("predicate" -> predicate)
  )

  def unboundParameter(predicate: String): UpkeepException = error(
    "UNBOUND_PARAMETER",
    SqlState.UndefinedParameter,
    s"OPTIMIZE cannot run with the predicate '$predicate'.",
    "It has a parameter without a value. Only SQL text has parameters, and only if Delta Upkeep's parser comes " +
      "before Delta's.",
    "In Python, write the value into the predicate. In SQL, list DeltaUpkeepSparkSessionExtension behind Delta's " +
      "extension in spark.sql.extensions.",
    Retry.No,
    Map("predicate" -> predicate)
  )

  def missingColumn(column: String, table: String, columns: Seq[String]): UpkeepException = {
    val listed = columns.take(MostListed) ++ Option.when(columns.size > MostListed)("...")
    error(
      "MISSING_COLUMN",
      SqlState.UnknownColumn,
      s"The predicate names the column '$column', which $table does not have.",
      s"Its columns are ${listed.mkString(", ")}.",
      "Correct the name or remove WHERE.",
      Retry.No,
      Map("column" -> column, "table" -> table, "columns" -> listed.mkString(", "))
    )
  }

  def nonPartitionColumn(column: String, table: String, partitionColumns: Seq[String]): UpkeepException =
    error(
      "NON_PARTITION_COLUMN",
      SqlState.FeatureNotSupported,
      s"The predicate names the column '$column', which does not partition $table.",
      s"REORG and ANALYZE choose files by their partition. ${partitionedBy(partitionColumns)}",
      "Use partition columns only, or remove WHERE.",
      Retry.No,
      Map("column" -> column, "table" -> table, "partitionColumns" -> partitionColumns.mkString(", "))
    )

  def zOrderColumn(column: String, table: String, cause: String): UpkeepException = error(
    "ZORDER_COLUMN",
    SqlState.UnknownColumn,
    s"OPTIMIZE cannot order $table by the column '$column'.",
    cause,
    "Choose data columns that have statistics and that queries filter by.",
    Retry.No,
    Map("column" -> column, "table" -> table)
  )

  /** @param why what is wrong with it, as a sentence */
  def invalidSortOrder(table: String, value: String, why: String): UpkeepException = error(
    "INVALID_SORT_ORDER",
    SqlState.InvalidParameter,
    s"OPTIMIZE cannot sort $table by its property deltaUpkeep.sortOrder, which is '$value'.",
    why,
    "Correct the property, or remove it with ALTER TABLE ... UNSET TBLPROPERTIES.",
    Retry.Once("the property is right"),
    Map("table" -> table, "value" -> value)
  )

  def columnWithoutStatistics(column: String, table: String): UpkeepException = error(
    "COLUMN_WITHOUT_STATISTICS",
    SqlState.UnknownColumn,
    s"ANALYZE cannot make statistics of the column '$column' of $table.",
    "The table has no such column, or collects no statistics of it, as of partition columns.",
    "Correct the name, or name the column in the table property delta.dataSkippingStatsColumns.",
    Retry.No,
    Map("column" -> column, "table" -> table)
  )

  /** Columns that a message names. */
  private val MostListed = 20

  private def partitionedBy(columns: Seq[String]): String =
    if (columns.isEmpty) "The table is not partitioned."
    else s"The table is partitioned by ${columns.mkString(", ")}."

  def clusteredTable(clause: String, table: String): UpkeepException = error(
    "CLUSTERED_TABLE",
    SqlState.FeatureNotSupported,
    s"OPTIMIZE cannot use $clause on $table.",
    "The table is clustered (CLUSTER BY), and its layout follows its clustering columns.",
    s"Leave $clause out.",
    Retry.No,
    Map("clause" -> clause, "table" -> table)
  )

  def fullNeedsClustering(table: String): UpkeepException = error(
    "FULL_NEEDS_CLUSTERING",
    SqlState.FeatureNotSupported,
    s"OPTIMIZE cannot use FULL on $table.",
    "FULL puts every file in order again, but the table has no clustering columns, and there is no ZORDER BY or ORDER BY.",
    "Remove FULL, add ZORDER BY or ORDER BY, or give the table clustering columns with ALTER TABLE ... CLUSTER BY first.",
    Retry.Once("the table has clustering columns"),
    Map("table" -> table)
  )

  def v2CheckpointNotEnabled(table: String): UpkeepException = error(
    "V2_CHECKPOINT_NOT_ENABLED",
    SqlState.ObjectState,
    s"CHECKPOINT cannot write a v2 checkpoint of $table.",
    "The table does not have the v2Checkpoint feature. Enabling it raises the protocol to reader 3 and " +
      "writer 7: clients without the feature can no longer read the table.",
    s"Run ALTER TABLE $table SET TBLPROPERTIES ('delta.checkpointPolicy' = 'v2'), or use policy = 'classic'.",
    Retry.Once("the table has the feature"),
    Map("table" -> table)
  )

  def multiPartOnV2Table(table: String): UpkeepException = error(
    "MULTI_PART_ON_V2_TABLE",
    SqlState.FeatureNotSupported,
    s"CHECKPOINT cannot write a multi-part checkpoint of $table.",
    "The protocol forbids multi-part checkpoints on a table with the v2Checkpoint feature.",
    "Remove partSize, or use policy = 'v2', where partSize sets the size of the sidecars.",
    Retry.No,
    Map("table" -> table)
  )

  /** `holds` and `expected`: a number of files and their bytes. */
  def checkpointMismatch(
      table: String,
      version: Long,
      holds: (Long, Long),
      expected: (Long, Long)
  ): UpkeepException = error(
    "CHECKPOINT_MISMATCH",
    SqlState.ObjectState,
    s"CHECKPOINT did not publish a checkpoint of version $version of $table: it would hold " +
      s"${holds._1} files with ${holds._2} bytes, but the checksum of the version counts " +
      s"${expected._1} files with ${expected._2} bytes.",
    "The last checkpoint, one of its sidecars or the checksum is damaged.",
    "Run CHECKPOINT with OPTIONS (mode = 'full'). If that fails too, remove the damaged checkpoint, so that " +
      "Delta reads an older one.",
    Retry.Once("the damaged file is replaced or removed"),
    Map("table" -> table, "version" -> version.toString)
  )

  def tableReplaced(table: String, version: Long): UpkeepException = error(
    "TABLE_REPLACED",
    SqlState.ObjectState,
    s"CHECKPOINT did not publish a checkpoint of version $version of $table.",
    "The log no longer has the commit of this version: the table was dropped or recreated meanwhile.",
    "If the table still exists, run CHECKPOINT again.",
    Retry.Yes,
    Map("table" -> table, "version" -> version.toString)
  )

  def checkpointDamaged(table: String, version: Long, damage: String): UpkeepException = error(
    "CHECKPOINT_DAMAGED",
    SqlState.ObjectState,
    s"The log of $table cannot be read: $damage.",
    s"There is no older complete checkpoint, and commits before version $version have been deleted.",
    "Restore the missing or damaged file of the checkpoint, for example from a copy of the table. Without it " +
      "this version of the table cannot be read.",
    Retry.Once("the file is restored"),
    Map("table" -> table, "version" -> version.toString)
  )

  def formatNeedsV2(table: String, format: String): UpkeepException = error(
    "FORMAT_NEEDS_V2",
    SqlState.InvalidParameter,
    s"CHECKPOINT cannot write a classic checkpoint of $table as $format.",
    "Only the top-level file of a v2 checkpoint may be JSON; a classic checkpoint is Parquet.",
    "Leave format out, or use policy = 'v2'.",
    Retry.No,
    Map("table" -> table, "format" -> format)
  )

  def negativeRetention(statement: String, hours: String): UpkeepException = error(
    "NEGATIVE_RETENTION",
    SqlState.InvalidParameter,
    s"$statement cannot retain $hours hours.",
    "A retention must be zero or more hours.",
    "Give a number that is not negative, or remove RETAIN to use the table's own retention.",
    Retry.No,
    Map("statement" -> statement, "hours" -> hours)
  )

  /** @param what is retained */
  def retentionTooShort(
      statement: String,
      what: String,
      property: String,
      table: String,
      hours: String,
      tableHours: String
  ): UpkeepException = error(
    "RETENTION_TOO_SHORT",
    SqlState.ObjectState,
    s"$statement cannot retain only $hours hours of $what of $table.",
    s"The table promises $tableHours hours ($property): streams and time travel may still need that history.",
    "Retain at least that long, change the property, or, if you are sure that nothing reads the older " +
      "versions, set spark.databricks.delta.retentionDurationCheck.enabled = false.",
    Retry.Once("the property or the setting is changed"),
    Map("table" -> table, "hours" -> hours, "tableHours" -> tableHours)
  )

  def commitsCleanedUp(table: String, oldest: Long): UpkeepException = error(
    "COMMITS_CLEANED_UP",
    SqlState.ObjectState,
    s"VACUUM of $table cannot find all files in the log.",
    s"Commits before version $oldest are gone, and no VACUUM has seen them.",
    "Use mode = 'full', which lists the directories of the table. Later runs can read the log again.",
    Retry.No,
    Map("table" -> table, "version" -> oldest.toString)
  )

  def cloneNotReadable(
      table: String,
      clone: String,
      cause: String,
      thrown: Option[Throwable]
  ): UpkeepException = error(
    "CLONE_NOT_READABLE",
    SqlState.ObjectState,
    s"VACUUM of $table cannot tell which of its files $clone needs, which keepFor names.",
    cause,
    "Correct the name. If the clone was dropped, or needs no file of the table any more, take it out of keepFor and of the table property " +
      "deltaUpkeep.vacuum.keepFor. Nothing was deleted.",
    Retry.No,
    Map("table" -> table, "clone" -> clone),
    thrown
  )

  def inventoryNotReadable(
      table: String,
      inventory: String,
      cause: String,
      thrown: Option[Throwable]
  ): UpkeepException = error(
    "INVENTORY_NOT_READABLE",
    SqlState.InvalidParameter,
    s"VACUUM of $table cannot use the inventory $inventory.",
    cause,
    "Name a table, or a query in parentheses, with the columns path (string, with scheme and bucket as in the table's own " +
      "location), length (bigint, bytes), isDir (boolean) and modificationTime (bigint, milliseconds since the epoch). " +
      "Nothing was deleted.",
    Retry.No,
    Map("table" -> table, "inventory" -> inventory),
    thrown
  )

  def filesElsewhere(table: String, store: String, root: String): UpkeepException = error(
    "FILES_ELSEWHERE",
    SqlState.ObjectState,
    s"VACUUM of $table cannot tell which of its files are needed.",
    s"The table names files in $store, and that store might show files below $root under other names, as a mount does.",
    "If it does not, as for a shallow clone of another table, set " +
      "spark.databricks.delta.vacuum.relativize.ignoreError = true.",
    Retry.Once("the setting is changed"),
    Map("table" -> table, "store" -> store)
  )

  def retentionExceedsLog(table: String, oldest: Long): UpkeepException = error(
    "RETENTION_EXCEEDS_LOG",
    SqlState.ObjectState,
    s"VACUUM of $table cannot tell which files the retention protects.",
    s"RETAIN is longer than the table's own retention, and commits before version $oldest, which may have removed " +
      "such files, are gone.",
    "Leave out RETAIN, or set delta.deletedFileRetentionDuration to the longer time and wait until the log covers it.",
    Retry.No,
    Map("table" -> table, "version" -> oldest.toString)
  )

  /** @param failures how many files could not be deleted */
  def dataFileNotDeleted(
      table: String,
      file: String,
      problem: String,
      failures: Int,
      deleted: Long,
      thrown: Option[Throwable]
  ): UpkeepException = error(
    "DATA_FILE_NOT_DELETED",
    SqlState.Io,
    s"VACUUM of $table could not delete ${CountText.of(failures.toLong, "file")}, such as $file.",
    s"The file system did not delete it: $problem. ${CountText.of(deleted, "file")} had been deleted by then.",
    "Fix the cause and run the statement again. The table is readable, and the next run deletes the rest.",
    Retry.Once("the file system can delete the file"),
    Map("table" -> table, "file" -> file),
    thrown
  )

  def logNotWritable(statement: String, table: String, logPath: String, thrown: Throwable): UpkeepException =
    error(
      "LOG_NOT_WRITABLE",
      SqlState.Unauthorized,
      s"$statement cannot write to the log of $table.",
      s"The file system denies access to $logPath: ${thrown.getMessage}.",
      "Run it as a user who can write there, or ask for that permission. Nothing was changed.",
      Retry.Once("the permission is granted"),
      Map("statement" -> statement, "table" -> table, "path" -> logPath),
      Some(thrown)
    )

  def logDirectoryIsLink(table: String, directory: String): UpkeepException = error(
    "LOG_DIRECTORY_IS_LINK",
    SqlState.ObjectState,
    s"CLEANUP LOG of $table deleted nothing.",
    s"$directory is a link to another location, but CLEANUP LOG deletes only files of the log itself.",
    "Replace the link with a directory that holds these files.",
    Retry.Once("the link is replaced"),
    Map("table" -> table, "directory" -> directory)
  )

  def logFileNotDeleted(
      table: String,
      file: String,
      problem: String,
      deleted: Long,
      thrown: Option[Throwable]
  ): UpkeepException = error(
    "LOG_FILE_NOT_DELETED",
    SqlState.Io,
    s"CLEANUP LOG of $table stopped at $file.",
    s"The file system did not delete it: $problem. ${CountText.of(deleted, "file")} had been deleted by then.",
    "Fix the cause and run the statement again. The table is readable, and the next run deletes the rest.",
    Retry.Once("the file system can delete the file"),
    Map("table" -> table, "file" -> file),
    thrown
  )

  def dataFileMissing(
      statement: String,
      table: String,
      version: Long,
      file: String,
      thrown: Throwable
  ): UpkeepException = error(
    "DATA_FILE_MISSING",
    SqlState.Io,
    s"$statement of $table stopped: the data file $file does not exist.",
    s"Version $version of the table names it, so something other than a commit deleted it, or a VACUUM " +
      "with too short a retention.",
    s"Restore the file, for example from a copy of the table, or use RESTORE TABLE to return to a version " +
      s"whose files all exist. $CommittedStays",
    Retry.Once("the file is restored"),
    Map("statement" -> statement, "table" -> table, "version" -> version.toString, "file" -> file),
    Some(thrown)
  )

  /** @param ofSplice whether it was found without Spark's reader, which does not check all of a file */
  def dataFileDamaged(
      statement: String,
      table: String,
      version: Long,
      file: String,
      problem: String,
      ofSplice: Boolean,
      thrown: Throwable
  ): UpkeepException = error(
    "DATA_FILE_DAMAGED",
    SqlState.Io,
    s"$statement of $table stopped: the data file $file is damaged.",
    s"It belongs to version $version of the table, but its content is not valid: ${problem.stripSuffix(".")}.",
    "Restore the file, for example from a copy of the table, or use RESTORE TABLE to return to a version " +
      s"without it. $CommittedStays" + (
        if (!ofSplice) ""
        else " To rewrite its rows as Spark reads them, set spark.deltaUpkeep.optimize.engine = rows."
      ),
    Retry.Once("the file is restored"),
    Map("statement" -> statement, "table" -> table, "version" -> version.toString, "file" -> file),
    Some(thrown)
  )

  /** @param problem names the file */
  def dataFileUnreadable(
      statement: String,
      table: String,
      problem: String,
      thrown: Throwable
  ): UpkeepException =
    error(
      "DATA_FILE_UNREADABLE",
      SqlState.Io,
      s"$statement of $table stopped: a data file cannot be read.",
      s"${problem.stripSuffix(".")}.",
      "Rewrite the file with the engine that wrote it, in a form that Spark reads, or leave it out with " +
        s"WHERE. $CommittedStays",
      Retry.Once("the file is rewritten"),
      Map("statement" -> statement, "table" -> table),
      Some(thrown)
    )

  def logDamaged(statement: String, table: String, problem: String, thrown: Throwable): UpkeepException =
    error(
      "LOG_DAMAGED",
      SqlState.Io,
      s"$statement cannot read the log of $table.",
      s"A file of the log is missing or damaged: ${problem.stripSuffix(".")}.",
      "Restore the file, for example from a copy of the table. If it is a checkpoint and the commits before it exist, " +
        "FSCK REPAIR TABLE writes it anew. If even that cannot open the table, and all commits exist, remove all files of " +
        "that checkpoint, so that Delta reads the commits.",
      Retry.Once("the file is restored"),
      Map("statement" -> statement, "table" -> table),
      Some(thrown)
    )

  private val CommittedStays =
    "Earlier commits of this run are complete, and DESCRIBE HISTORY lists them."

  /** @param difference the first one, as sentences */
  def rewriteMismatch(table: String, bins: Int, difference: String): UpkeepException = error(
    "REWRITE_MISMATCH",
    SqlState.Internal,
    s"OPTIMIZE left ${CountText.of(bins, "bin")} of $table alone: the contents of the new files would differ from the inputs.",
    s"$difference The new files were removed; the other bins are committed.",
    "Please report this message. Until this is fixed, set spark.deltaUpkeep.optimize.engine = rows to " +
      "rewrite the files as Delta does.",
    Retry.Once("engine = rows is set"),
    Map("table" -> table, "bins" -> bins.toString, "difference" -> difference)
  )

  def analyzeConflict(table: String, attempts: Int, thrown: Throwable): UpkeepException =
    conflict("ANALYZE_CONFLICT", table, attempts, ContentStays, thrown)

  def fsckConflict(table: String, attempts: Int, thrown: Throwable): UpkeepException =
    conflict("FSCK_CONFLICT", table, attempts, "at a quieter time. The table is unchanged.", thrown)

  def fsckAllGone(table: String, files: Long, root: String): UpkeepException = error(
    "FSCK_ALL_FILES_GONE",
    SqlState.ObjectState,
    s"FSCK leaves $table alone: it would remove all entries of the table (${CountText.of(files, "file")}).",
    s"None of the files can be read. More likely the directory $root was moved, or is not mounted, than that every " +
      "file was deleted.",
    "Check where the files are. OPTIONS (mode = 'check') lists the paths. If they are lost, DELETE FROM without a " +
      "condition removes all entries without reading a file.",
    Retry.Once("the files are back"),
    Map("table" -> table, "files" -> files.toString, "root" -> root)
  )

  def fsckAppendOnly(table: String): UpkeepException = error(
    "FSCK_APPEND_ONLY",
    SqlState.ObjectState,
    s"FSCK cannot remove entries of $table.",
    "The table is append-only: its property delta.appendOnly is true.",
    "Restore the files, or set delta.appendOnly = false while FSCK runs.",
    Retry.Once("the property is changed"),
    Map("table" -> table)
  )

  /** @param store a directory, or a store that the table names files in */
  def fsckStoreUnreachable(table: String, store: String, thrown: Throwable): UpkeepException = error(
    "FSCK_STORE_UNREACHABLE",
    SqlState.Io,
    s"FSCK of $table cannot tell which files exist.",
    s"$store cannot be reached: ${thrown.getMessage}.",
    "Check the address, the credentials and the network. Nothing was changed.",
    Retry.Once("the store can be reached"),
    Map("table" -> table, "store" -> store),
    Some(thrown)
  )

  def optimizeConflict(table: String, attempts: Int, thrown: Throwable): UpkeepException =
    conflict("OPTIMIZE_CONFLICT", table, attempts, ContentStays, thrown)

  /** @param when to run it again, and what is left meanwhile */
  private def conflict(
      name: String,
      table: String,
      attempts: Int,
      when: String,
      thrown: Throwable
  ): UpkeepException = {
    val statement = name.stripSuffix("_CONFLICT")
    error(
      name,
      SqlState.Conflict,
      s"$statement could not commit to $table in $attempts attempts.",
      "Other writers committed first each time.",
      s"Run $statement again, $when",
      Retry.Yes,
      Map("table" -> table, "attempts" -> attempts.toString),
      Some(thrown)
    )
  }

  private val ContentStays =
    s"at a quieter time or on fewer partitions with WHERE. The content of the table is unchanged. $CommittedStays"
}
