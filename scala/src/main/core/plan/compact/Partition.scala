package io.deltaupkeep.plan.compact

/**
 * A partition of a table. Two partitions are equal if their values are, however the log spells them.
 * Different partitions may have the same text.
 *
 * @param values of the partition columns, each normalized to one spelling; none is null
 * @param text   `column=value` pairs, for display only; empty if the table is not partitioned
 */
final case class Partition(values: Seq[Option[String]])(val text: String)

object Partition {

  /** The only partition of a table that is not partitioned. */
  val whole: Partition = Partition(Nil)("")

  /** `p=1, q=null`; quotes distinguish the string 'null' from a null, and a string with a comma from two pairs. */
  def textOf(values: Seq[(String, Option[String])]): String =
    values.map { case (column, value) => s"$column=${value.fold("null")(quoted)}" }.mkString(", ")

  private def quoted(value: String): String =
    if (value.isEmpty || value == "null" || value.contains(", ") || value.startsWith("'"))
      value.replace("'", "''").mkString("'", "", "'")
    else value
}
