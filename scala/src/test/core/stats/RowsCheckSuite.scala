package io.deltaupkeep.stats

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

import org.apache.spark.sql.types._

/** What the log says of files that were rewritten row by row, and of their inputs. */
class RowsCheckSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val merged = new MergedStats(new StructType().add("a", IntegerType).add("s", StringType))

  private def stats(rows: Long, min: Int, max: Int, nulls: Long, text: String = "m"): String =
    s"""{"numRecords":$rows,"minValues":{"a":$min,"s":"$text"},"maxValues":{"a":$max,"s":"$text"},""" +
      s""""nullCount":{"a":$nulls,"s":0}}"""

  private val two = Seq(stats(3, 1, 5, 1), stats(2, 4, 9, 0))

  test("the first difference is told") {
    val cases = Table(
      ("what", "inputs", "deleted", "outputs", "difference"),
      ("the same", two, 0L, Seq(stats(5, 1, 9, 1)), None),
      ("two new files", two, 0L, Seq(stats(4, 1, 8, 1), stats(1, 9, 9, 0)), None),
      ("a row less", two, 0L, Seq(stats(4, 1, 9, 1)), Some("hold 5 rows")),
      ("deleted rows", two, 2L, Seq(stats(3, 4, 9, 0)), None),
      ("a deleted row that came back", two, 2L, Seq(stats(4, 4, 9, 0)), Some("hold 3 rows")),
      ("a null more", two, 0L, Seq(stats(5, 1, 9, 2)), Some("Column a has 1 nulls by the log, and 2")),
      ("a value below", two, 0L, Seq(stats(5, 0, 9, 1)), Some("Column a has values from 1 to 9")),
      ("a value above", two, 2L, Seq(stats(3, 4, 10, 1)), Some("Column a has values from 1 to 9")),
      ("text that some writers cut", two, 0L, Seq(stats(5, 1, 9, 1, "n")), None),
      ("inputs without statistics", Seq(null), 0L, Seq(stats(5, 1, 9, 1)), None),
      ("outputs without statistics", two, 0L, Seq(null), None)
    )
    forAll(cases) { (what, inputs, deleted, outputs, difference) =>
      val found = RowsCheck.difference(
        merged.of(inputs, deleted),
        merged.of(outputs),
        merged.of(inputs ++ outputs, deleted)
      )
      assert(
        found.nonEmpty == difference.nonEmpty && difference.forall(text => found.get.contains(text)),
        s"$what: $found"
      )
    }
  }
}
