package io.deltaupkeep.parquet

import scala.util.control.NonFatal

import io.deltaupkeep.FuzzSeeds

import org.scalacheck.Gen
import org.scalacheck.rng.Seed
import org.scalatest.Assertions

/** Checks values that every run draws anew. A failure names the seed of its value. */
trait DrawnValues { this: Assertions =>

  def forDrawn[T](values: Gen[T])(check: T => Any): Unit =
    FuzzSeeds(200).foreach { seed =>
      val size = Gen.Parameters.default.withSize(Math.floorMod(seed, 50L).toInt)
      naming(FuzzSeeds.clue(seed))(check(values.pureApply(size, Seed(seed))))
    }

  /** The rows of a table; a failure names its row. */
  def forRows[T](rows: Seq[T])(check: T => Any): Unit = {
    assert(rows.nonEmpty)
    rows.foreach(row => naming(row.toString)(check(row)))
  }

  /** Fails with texts alone: what a row holds need not go through sbt's wire. */
  private def naming(what: String)(check: => Any): Unit =
    try { check; () }
    catch { case NonFatal(e) => fail(s"$what: $e") }
}
