package io.deltaupkeep.plan.cluster

import io.deltaupkeep.{Tables, UpkeepException}
import io.deltaupkeep.plan.compact.Layout

import org.apache.spark.sql.catalyst.analysis.caseInsensitiveResolution

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class LayoutChoiceSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val facts =
    Tables.facts(version = 0).copy(columns = Seq("a", "B c", "p"), partitionColumns = Seq("p"))
  private val sorted = facts.copy(sortOrder = Some("a, `B c` DESC"))
  private val clustered = sorted.copy(clusteringColumns = Seq("a"), isClustered = true)

  private def choice(table: io.deltaupkeep.TableFacts) = new LayoutChoice(table, caseInsensitiveResolution)

  private def condition(run: => Any): String = intercept[UpkeepException](run).name

  test("ORDER BY comes before the table's property, and CLUSTER BY before both") {
    val byTable = Layout.Sort(Seq("a", "`B c`"), Seq(false, true), full = false, sorted.sortOrder)
    assert(choice(facts).of(full = false) == Layout.Compact)
    assert(choice(sorted).of(full = false) == byTable)
    assert(choice(sorted).of(full = true) == byTable.copy(full = true))
    val byA = Seq(SortKey(Seq("A"), isDescending = true))
    val asked = Layout.Sort(Seq("A"), Seq(true), full = false)
    assert(choice(sorted).of(full = false, orderBy = byA) == asked)
    val zOrder = choice(sorted).of(full = true, zOrderBy = Seq(Seq("a")))
    assert(zOrder == Layout.ZOrder(Seq("a"), full = true))
    assert(choice(clustered).of(full = false) == Layout.Cluster(Seq("a"), full = false))
    assert(
      condition(choice(clustered).of(full = false, orderBy = byA)) == "CLUSTERED_TABLE"
    )
    assert(condition(choice(facts).of(full = true)) == "FULL_NEEDS_CLUSTERING")
    val byP = Seq(SortKey(Seq("P"), isDescending = false))
    assert(condition(choice(facts).of(full = false, orderBy = byP)) == "ZORDER_COLUMN")
  }

  test("a property that cannot be followed is refused, unless a statement asks for another order") {
    val byA = Seq(SortKey(Seq("a"), isDescending = false))
    for (text <- Seq("", "lower(a)", "x", "p", "a b")) {
      val odd = choice(facts.copy(sortOrder = Some(text)))
      assert(condition(odd.of(full = false)) == "INVALID_SORT_ORDER", text)
      assert(odd.of(full = false, orderBy = byA) == Layout.Sort(
        Seq("a"),
        Seq(false),
        full = false
      ))
    }
    val once = clustered.copy(clusteringColumns = Nil)
    assert(choice(once).of(full = false, orderBy = byA).reorders)
  }

  test("keys are columns with a direction, and nothing else") {
    val cases = Table(
      ("text", "keys"),
      ("a", Seq("a")),
      ("a.b ASC,`c.d` desc", Seq("a.b", "`c.d` DESC")),
      ("`desc` DESC", Seq("desc DESC")),
      ("a NULLS FIRST", Seq("a")),
      ("a DESC NULLS LAST", Seq("a DESC"))
    )
    forAll(cases)((text, keys) => assert(SortKey.listed(text).map(_.map(_.text)).contains(keys)))
    for (text <- Seq("", " ", "a b", "a,", "lower(a)", "1", "a NULLS LAST", "a LIMIT 1", "a) x", "*"))
      assert(SortKey.listed(text).isEmpty, text)
    val ones = Table(
      ("text", "key"),
      ("my col", SortKey(Seq("my col"), isDescending = false)),
      (" a.`b.c`  desc ", SortKey(Seq("a", "b.c"), isDescending = true)),
      ("größe ASC", SortKey(Seq("größe"), isDescending = false)),
      ("desc", SortKey(Seq("desc"), isDescending = false))
    )
    forAll(ones)((text, key) => assert(SortKey.one(text) == key))
  }
}
