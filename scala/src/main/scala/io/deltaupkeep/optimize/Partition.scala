package io.deltaupkeep.optimize

/**
 * A partition of a table. Two are equal if their values are, however the log spells them; their texts may be alike
 * where they are not.
 *
 * @param values of the partition columns, in one spelling each; none is null
 * @param text   `column=value` pairs, for people alone; empty where the table is not partitioned
 */
final case class Partition(values: Seq[Option[String]])(val text: String)

object Partition {

  /** All of a table that is not partitioned. */
  val whole: Partition = Partition(Nil)("")

  /** `p=1, q=null`; quotes tell the string 'null', and one that holds a comma, from what they look like. */
  def textOf(values: Seq[(String, Option[String])]): String =
    values.map { case (column, value) => s"$column=${value.fold("null")(quoted)}" }.mkString(", ")

  private def quoted(value: String): String =
    if (value.isEmpty || value == "null" || value.contains(", ") || value.startsWith("'"))
      value.replace("'", "''").mkString("'", "", "'")
    else value
}
