package io.deltaupkeep.health

/** Makes the findings from the facts about a table. Pure. */
object HealthCheck {

  def of(facts: HealthFacts): Seq[HealthResult] = FileChecks.of(facts) ++ LogChecks.of(facts)
}
