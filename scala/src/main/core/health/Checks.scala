package io.deltaupkeep.health

import io.deltaupkeep.TableFacts

/** Makes the result rows of one table. */
private[health] final class Checks(table: TableFacts) {

  /**
   * Returns a remedy if something is wrong and a statement may fix it.
   *
   * @param remedy the statement for a table's name
   */
  def result(
      check: String,
      severity: Severity,
      value: Option[Double],
      unit: String,
      message: String,
      why: String,
      remedy: Option[String => String] = None,
      details: Seq[HealthDetail] = Nil
  ): HealthResult = HealthResult(
    table.path,
    check,
    severity.name,
    value,
    unit,
    message,
    why,
    remedy.filter(_ => severity != Severity.Ok && !table.catalogManaged).map(_(table.name)),
    details
  )
}
