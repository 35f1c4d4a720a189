package io.deltaupkeep.plan.compact

/**
 * Files that a damaged log names more than once, with other deletion vectors. Their rows are read as often. Delta
 * commits nothing about two of them together, so they stay as they are.
 *
 * @param others the files that are named once
 */
private[deltaupkeep] final case class NamedTwice(paths: Set[String], others: Seq[DataFile], left: Seq[Bin]) {
  def has(file: DataFile): Boolean = paths(file.path)
}

private[deltaupkeep] object NamedTwice {

  def of(files: Seq[DataFile]): NamedTwice = {
    // The deletion vector is all that two entries of a path can differ in.
    val withVector = files.iterator.filter(_.deletionVector.nonEmpty).map(_.path).toSet
    val entries = files.filter(file => withVector(file.path)).groupBy(_.path).filter(_._2.size > 1)
    if (entries.isEmpty) NamedTwice(Set.empty, files, Nil)
    else {
      val left = entries.toSeq.sortBy(_._1).flatMap(_._2).map(file =>
        Bin(Seq(file), Tier.Rows(Why, RowsCause.Malformed))
      )
      NamedTwice(entries.keySet, files.filterNot(file => entries.contains(file.path)), left)
    }
  }

  private val Why =
    "the log names the file twice, with different deletion vectors, so its rows are read twice; " +
      "RESTORE the table to a version before the damage"
}
