package org.apache.spark.sql.delta.upkeep.read

import java.io.File
import java.nio.file.Files

import io.deltaupkeep.UpkeepException
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.upkeep.TestSession

/** Commits that carry their own time, and that nothing else is read of. */
class CommitTimeSuite extends AnyFunSuite {
  import TestSession._

  for (statement <- Seq("CLEANUP LOG", "DESCRIBE HEALTH"))
    test(s"$statement names a commit whose time cannot be read") {
      val path = newTable(
        s"commitTime${statement.head}",
        6,
        "delta.enableInCommitTimestamps" -> "true",
        "delta.checkpointInterval" -> "1000"
      )
      spark.sql(s"CHECKPOINT delta.`$path`")
      for (version <- 0 to 5) {
        val file = new File(path, f"_delta_log/$version%020d.json").toPath
        Files.writeString(file, Files.readString(file).replaceFirst("\"", "#"))
        // Hadoop's own checksum would find it out before we do.
        Files.deleteIfExists(file.resolveSibling(s".${file.getFileName}.crc"))
      }
      DeltaLog.clearCache()
      assert(ids(path) == Seq(1, 2, 3, 4, 5, 6))
      val e = intercept[UpkeepException](spark.sql(s"$statement delta.`$path`").collect())
      assert(e.getCondition == "DELTA_UPKEEP.LOG_DAMAGED")
      assert(e.getMessage.matches("(?s).*_delta_log/0{19}[0-5]\\.json: .*"), e.getMessage)
    }
}
