package org.apache.spark.sql.delta.upkeep.state

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.actions.{AddFile, DeletionVectorDescriptor}
import org.apache.spark.sql.delta.upkeep.TestSession
import org.apache.spark.sql.functions.col

class FileKeySuite extends AnyFunSuite {
  import TestSession.spark

  private def vector(storage: String, place: String, offset: Option[Int]) =
    DeletionVectorDescriptor(storage, place, offset, sizeInBytes = 40, cardinality = 2)

  test("a row, an action and the columns of a job have one key for a file") {
    import org.apache.spark.sql.delta.implicits._
    val vectors = Seq(
      null,
      vector("u", "ab", Some(1)),
      vector("u", "ab", Some(12)),
      vector("u", "ab", None),
      vector("u", "abc", Some(1)),
      vector("p", "ab", Some(1)),
      vector("i", "ab", None)
    )
    val adds = for (path <- Seq("x", "y/z"); vector <- vectors)
      yield AddFile(path, Map.empty, 1, 1, dataChange = true, deletionVector = vector)
    val ofActions = adds.map(FileKey.of(_, identity)).map(id => (id.path, id.deletionVector))
    assert(ofActions.distinct.size == adds.size)

    val frame = spark.createDataset(adds.map(_.wrap)).toDF()
    val ofColumns = frame.select(col("add.path"), FileKey.vector("add")).collect()
    assert(ofColumns.map(row => (row.getString(0), Option(row.getString(1)))).toSeq == ofActions)

    val actions = new FileActions(frame.schema)
    val ofRows =
      frame.queryExecution.executedPlan.executeCollect().map(row => actions.key(row, actions.path(row)))
    assert(ofRows.map(_.toString).toSeq == ofActions.map { case (path, id) =>
      (path +: id.toSeq).mkString("\n")
    })
  }
}
