package io.deltaupkeep.health

/** Looks at a table's facts and says what they mean. Pure. */
object HealthCheck {

  def of(facts: HealthFacts): Seq[HealthResult] = FileChecks.of(facts) ++ LogChecks.of(facts)
}
