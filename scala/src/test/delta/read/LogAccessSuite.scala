package org.apache.spark.sql.delta.upkeep.read

import java.io.{File, IOException}

import io.deltaupkeep.UpkeepException
import io.deltaupkeep.store.AskedFileSystem

import org.apache.hadoop.security.AccessControlException
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.upkeep.TestSession

/** The question whether the log may be written. */
class LogAccessSuite extends AnyFunSuite {
  import TestSession._

  private val statements = Seq("OPTIMIZE", "CHECKPOINT", "CLEANUP LOG", "MAINTAIN")

  private def tableWhere(name: String, answer: Exception): String = {
    AskedFileSystem.answer = answer
    newTableAt(s"asked://${new File(root, name).getAbsolutePath}", 3)
  }

  for (answer <- Seq(new UnsupportedOperationException("access"), new IOException("no such request")))
    test(s"a file system that answers with ${answer.getClass.getSimpleName} stops no statement") {
      val path = tableWhere(s"unanswered-${answer.getClass.getSimpleName}", answer)
      statements.foreach(statement => spark.sql(s"$statement delta.`$path`").collect())
      assert(ids(path) == Seq(1, 2, 3))
    }

  test("a file system that denies it stops a statement before it writes") {
    val path = tableWhere("denied", new AccessControlException("a test"))
    val e = intercept[UpkeepException](spark.sql(s"CHECKPOINT delta.`$path`").collect())
    assert(e.getCondition == "DELTA_UPKEEP.LOG_NOT_WRITABLE")
  }
}
