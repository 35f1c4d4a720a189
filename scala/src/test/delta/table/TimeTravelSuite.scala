package org.apache.spark.sql.delta.upkeep.table

import java.io.File

import scala.util.Try

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.upkeep.TestSession

/** What CLEANUP LOG and DESCRIBE HEALTH say of time travel is what Delta does. */
class TimeTravelSuite extends AnyFunSuite {
  import TestSession._
  import spark.implicits._

  test("the log holds versions that Delta refuses to read") {
    val path = newTable("timeTravel", 6, "delta.checkpointInterval" -> "1000")
    val tenDays = 10L * 24 * 3600 * 1000
    for {
      file <- new File(path, "_delta_log").listFiles()
      version <- file.getName.takeWhile(_.isDigit).toLongOption if version <= 3
    } file.setLastModified(System.currentTimeMillis() - tenDays + version * 60000)
    DeltaLog.clearCache()
    val (log, travel) = spark.sql(s"CLEANUP LOG delta.`$path` DRY RUN").where("file IS NULL")
      .select("oldestReadableVersion", "oldestTimeTravelVersion").as[(Long, Long)].head()
    assert((log, travel) == ((0L, 4L)))
    val said = spark.sql(s"DESCRIBE HEALTH delta.`$path`").where("`check` = 'oldestVersion'")
      .select("message").as[String].head()
    assert(said.contains("versions 0 to 6") && said.contains("back to version 4."), said)
    def read(version: Long): Try[Long] = Try {
      spark.read.format("delta").option("versionAsOf", version).load(path).count()
    }
    assert(read(travel).isSuccess)
    val refused = read(travel - 1)
    // Older versions of Delta read what is left.
    assert(refused.isSuccess || refused.failed.get.getMessage.contains("deletedFileRetentionDuration"))
    assert(refused.isFailure || !io.delta.VERSION.startsWith("4.4"))
  }
}
