package org.apache.spark.sql.delta.upkeep.health

import java.io.File
import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.upkeep.TestSession
import org.apache.spark.sql.delta.upkeep.files.{FilePredicate, SelectedFiles}
import org.apache.spark.sql.delta.upkeep.table.{DeltaHandle, DeltaTarget, Intent}

class FileCensusSuite extends AnyFunSuite {
  import TestSession._

  test("a pass over the log counts what the actions of all files say") {
    val path = newTable(
      "census",
      6,
      "delta.enableDeletionVectors" -> "true",
      "delta.checkpoint.writeStatsAsStruct" -> "false"
    )
    spark.sql(s"INSERT INTO delta.`$path` SELECT id, 1 FROM range(50, 60)")
    spark.sql(s"DELETE FROM delta.`$path` WHERE id IN (51, 52)")
    val commit = new File(path, f"_delta_log/${2}%020d.json").toPath
    Files.writeString(commit, Files.readString(commit).replace("numRecords", "numRecordz"))
    new File(path, f"_delta_log/.${2}%020d.json.crc").delete()
    DeltaLog.clearCache()
    spark.sql(s"CHECKPOINT delta.`$path`")
    append(path, 70)
    DeltaLog.clearCache()
    val handle =
      DeltaHandle.open(spark, "TEST", DeltaTarget.byPath(spark, "TEST", path, Map.empty), Intent.Read)
    def census(whole: Boolean) = FileCensus.of(handle, new SelectedFiles(handle, FilePredicate.none, whole))
    val (byPass, byActions) = (census(whole = false), census(whole = true))
    assert(
      byPass.files.partitions == byActions.files.partitions && byPass.files.total == byActions.files.total
    )
    assert(byPass.files.physicalRows == byActions.files.physicalRows && byPass.files.deletedRows == 2)
    assert(byPass.withoutStatistics == byActions.withoutStatistics && byPass.withoutStatistics.files == 1)
    assert(byPass.some.toSet == byActions.some.toSet && byPass.some.size == byPass.files.total.files)
  }
}
