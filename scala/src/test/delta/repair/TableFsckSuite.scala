package org.apache.spark.sql.delta.upkeep.repair

import java.nio.file.{Files, Paths}

import io.deltaupkeep.plan.repair.{FsckMode, FsckResult, FsckSettings}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaOperations
import org.apache.spark.sql.delta.upkeep.{Meanwhile, TestSession}
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle

class TableFsckSuite extends AnyFunSuite {
  import TestSession._

  private def handle(path: String): DeltaHandle = DeltaHandle.of(spark, newest(path), catalogTable = None)

  private def files(path: String): Set[String] = newest(path).allFiles.collect().map(_.path).toSet

  /** A table whose files OPTIMIZE has replaced, and the new ones are gone. */
  private def damaged(name: String): String = {
    val path = newTable(name, 4)
    spark.sql(s"OPTIMIZE delta.`$path`")
    files(path).foreach(file => Files.delete(Paths.get(path, file)))
    path
  }

  /** Restores, while something happens after the last look at the files. */
  private def restored(path: String)(meanwhile: => Unit): Seq[FsckResult] =
    Meanwhile.changing(Iterator.single(() => meanwhile)) {
      TableFsck(handle(path), FsckSettings(FsckMode.Restore, deep = false)).execute()
    }

  private def beginVacuum(path: String): Unit = {
    val begin = DeltaOperations.VacuumStart(true, None, 604800000L)
    handle(path).table.startTransaction(None).commit(Nil, begin)
    ()
  }

  private def reasons(results: Seq[FsckResult]): Seq[String] = results.flatMap(_.reason)

  test("what is restored while a VACUUM begins is taken back") {
    val path = damaged("vacuum-begins")
    val before = files(path)
    val results = restored(path)(beginVacuum(path))
    assert(files(path) == before)
    assert(results.flatMap(_.action).forall(_ == "none"))
    assert(reasons(results).forall(_.contains("so what was restored was taken back")))
  }

  test("nothing else takes a restoration back") {
    val path = damaged("vacuum-does-not-begin")
    val results = restored(path) {
      spark.sql(s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ('of' = 'others')")
      ()
    }
    assert(results.flatMap(_.action).forall(_ == "restore"))
    assert(spark.read.format("delta").load(path).count() == 4)
  }
}
