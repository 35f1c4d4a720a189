package org.apache.spark.sql.delta.upkeep.vacuum

import io.deltaupkeep.{UpkeepErrors, UpkeepException}
import io.deltaupkeep.log.LogListing
import io.deltaupkeep.plan.vacuum.NameSet

import org.apache.spark.sql.catalyst.parser.ParseException
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaTarget, Intent}

/**
 * The files of a table that shallow clones need. A clone needs whatever its log still names: what it removed has a
 * retention of its own.
 */
private[vacuum] final class CloneNames(table: DeltaHandle) {

  /**
   * @param clones names of one to three parts, or delta.`/path`
   * @throws io.deltaupkeep.UpkeepException `CLONE_NOT_READABLE`
   */
  def of(clones: Seq[String]): NameSet = NameSet.union(clones.flatMap { name =>
    // A clone has the properties of its source, so it may name itself.
    Some(opened(name)).filter(_.logPath != table.logPath).map(namedBy(name, _))
  })

  private def opened(name: String): DeltaHandle =
    try {
      val session = table.session
      val parts = session.sessionState.sqlParser.parseMultipartIdentifier(name)
      DeltaHandle.open(session, Statement, DeltaTarget.byName(session, Statement, parts), Intent.Read)
    } catch {
      case e @ (_: UpkeepException | _: ParseException) =>
        throw UpkeepErrors.cloneNotReadable(table.name, name, e.getMessage, Some(e))
    }

  private def namedBy(name: String, clone: DeltaHandle): NameSet = {
    val names = new FileNames(clone.snapshot.deltaLog.dataPath, table.snapshot.deltaLog.dataPath)
    val log = LogListing.of(clone.logPath.getFileSystem(clone.hadoopConf), clone.logPath)
    val found =
      new NamedFiles(clone, names, cutoff = 0, clone.now).findAnywhere(new CommitChanges(clone, log))(_ =>
        true
      ).kept
    // It may be another table, or see the files under another path.
    if (found.isEmpty) {
      val cause = s"Its log names no file below ${table.path}."
      throw UpkeepErrors.cloneNotReadable(table.name, name, cause, None)
    }
    found
  }

  private val Statement = "VACUUM"
}
