package io.deltaupkeep.plan.repair

import io.deltaupkeep.plan.compact.DataFile

import org.scalatest.Assertion
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

/** A file is a letter. `ab>c` at 1 says that version 1 rewrote a and b into c. */
class RestorePlannerSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private def ids(letters: String): Set[DataFile.Id] =
    letters.map(letter => DataFile.Id(letter.toString, None)).toSet

  private def letters(files: Set[DataFile.Id]): String = files.map(_.path).toSeq.sorted.mkString

  private def rewrites(history: String, obstacles: Map[Long, String] = Map.empty): Seq[Rewrite] =
    history.split(' ').toSeq.filter(_.nonEmpty).zipWithIndex.map { case (rewrite, i) =>
      val sides = rewrite.split('>').map(ids)
      Rewrite(i + 1L, outputs = sides(1), inputs = sides(0), obstacles.get(i + 1L))
    }

  private def plan(live: String, broken: String, history: Seq[Rewrite]): RestorePlan =
    new RestorePlanner(ids(live), ids(broken), history).plan()

  private def undone(plan: RestorePlan): String =
    plan.restorations.map(r => s"${letters(r.removed)}>${letters(r.added)}").sorted.mkString(" ")

  test("which rewrites are undone") {
    forAll(Table(
      ("history", "live", "broken", "undone"),
      ("ab>c", "cx", "", ""),
      ("ab>c", "cx", "c", "c>ab"),
      ("ab>c", "cx", "x", ""),
      // An input is gone.
      ("ab>c", "cx", "cb", ""),
      // All outputs go, also those that are whole.
      ("ab>cd", "cdx", "c", "cd>ab"),
      // An output is no longer in the table.
      ("ab>cd", "cx", "c", ""),
      // A chain: c was made of a and b.
      ("ab>c cd>e", "e", "ec", "e>abd"),
      ("ab>c cd>e", "e", "e", "e>cd"),
      ("ab>c cd>e", "e", "eca", ""),
      ("ab>c cd>e ef>g", "g", "gec", "g>abdf"),
      // Two rewrites share what an older one made.
      ("z>ab a>c b>d", "cd", "cda", "cd>z"),
      ("z>ab a>c b>d", "cd", "cdz", "c>a d>b"),
      ("z>ab a>c b>d", "cd", "ca", ""),
      ("z>ab a>c b>d", "cd", "cdaz", "d>b"),
      // One of two is beyond help.
      ("ab>c de>f", "cf", "cfa", "f>de"),
      // What an earlier restore undid is not done again.
      ("ab>c c>ab", "ab", "ac", ""),
      ("z>ab ab>c c>ab", "ab", "ac", "ab>z"),
      // An input is in the table.
      ("ab>c", "bc", "c", "")
    )) { (history, live, broken, expected) =>
      assert(undone(plan(live, broken, rewrites(history))) == expected)
    }
  }

  test("why a file cannot be restored") {
    def assertRefused(history: Seq[Rewrite], live: String, broken: String, why: String): Assertion = {
      val refusals = plan(live, broken, history).refusals
      assert(refusals.keySet == ids(live) && refusals.values.toSet == Set(why))
    }
    assertRefused(Nil, "a", "a", "no commit in the log made it by only rewriting files")
    assertRefused(rewrites("ab>c"), "c", "ca", "of the 2 files that version 1 replaced, 1 cannot be used")
    assertRefused(
      rewrites("ab>cd"),
      "c",
      "c",
      "1 other file that version 1 made with it left the table or changed"
    )
    assertRefused(rewrites("a>c", Map(1L -> "version 1 is odd")), "c", "c", "version 1 is odd")
  }

  test("another deletion vector is another file") {
    val changed = DataFile.Id("c", Some("u1"))
    val plan = new RestorePlanner(Set(changed), Set(changed), rewrites("ab>c")).plan()
    assert(plan.restorations.isEmpty && plan.refusals.contains(changed))
  }

  test("inputs are looked for among the ancestors of broken files only") {
    val history = rewrites("ab>c cd>e xy>z")
    assert(RestorePlanner.ancestors(ids("e"), history).map(_.version).toSet == Set(1L, 2L))
    assert(letters(RestorePlanner.inputsOf(ids("e"), history)) == "cd")
  }
}
