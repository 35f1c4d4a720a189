package io.deltaupkeep.statement

/**
 * The clauses after the table of an OPTIMIZE.
 *
 * @param where conditions that must all be true
 */
private[deltaupkeep] final case class OptimizeClauses(
    full: Boolean,
    where: Seq[String],
    zOrderBy: Seq[Seq[String]],
    dryRun: Boolean,
    options: Seq[(String, String)]
) {

  def whereText: Option[String] = where match {
    case Seq() => None
    case Seq(one) => Some(s"WHERE $one")
    case several => Some(several.map(one => s"($one)").mkString("WHERE ", " AND ", ""))
  }
}
