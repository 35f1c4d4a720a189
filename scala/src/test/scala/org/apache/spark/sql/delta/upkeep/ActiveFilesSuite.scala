package org.apache.spark.sql.delta.upkeep

import java.io.File
import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.actions.RemoveFile

class ActiveFilesSuite extends AnyFunSuite {
  import TestSession._

  private def open(path: String): DeltaHandle = {
    DeltaLog.clearCache()
    val target = DeltaTarget.byPath(spark, "TEST", path, Map.empty)
    DeltaHandle.open(spark, "TEST", target, Intent.Reorganize)
  }

  test("a file that is removed by another relative path is gone") {
    val path = newTable("dotted", 3)
    val removed = DeltaLog.forTable(spark, path).update().allFiles.where("partitionValues.p = '0'").head()
    val remove = RemoveFile(s"./${removed.path}", Some(1L), partitionValues = removed.partitionValues)
    Files.writeString(new File(path, f"_delta_log/${4}%020d.json").toPath, remove.json)
    DeltaLog.clearCache()
    append(path, 5)
    val files = ActiveFiles.of(open(path), Nil)
    assert(ids(path) == Seq(1, 3, 5) && files.size == 3 && !files.exists(_.path == removed.path))
  }
}
