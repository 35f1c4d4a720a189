package io.deltaupkeep.stats

import io.deltaupkeep.parquet.footer.{FooterTotals, LeafBounds, LeafTotals, SplicedTotals}

import org.apache.spark.sql.types.{DataType, StructType}

/**
 * Compares what a new file says of its rows with what its inputs say: the log, the footers of the inputs and
 * the footer that was written. These numbers are known anyway. The check shares nothing with the code that
 * decides how files are spliced: it finds the columns itself, by the names in the table's schema. It compares only
 * what is certain. Pure.
 *
 * @param schema   of the data columns, by their physical names
 * @param byId     whether a file may have another name for a column
 * @param filled   columns beside them, which have a value in every row
 * @param constant columns beside them, which have the same value in every row
 */
final class RewriteCheck(
    schema: StructType,
    byId: Boolean,
    filled: Set[String] = Set.empty,
    constant: Set[String] = Set.empty
) {
  import RewriteCheck._

  /** The first difference between the new file of a bin and its inputs. */
  def apply(log: MergedStats.Result, totals: SplicedTotals): Verdict = {
    val SplicedTotals(inputs, output) = totals
    val logged = log.columns.map(column => column.path -> column).toMap
    val verdicts =
      rowDifference(log.rows, inputs.rows - inputs.dropped, output.rows).iterator ++ missingColumn(output).iterator ++
        output.leaves.iterator.flatMap {
          case (Seq(name), leaf) if filled(name) => unfilled(name, leaf).iterator
          case (Seq(name), leaf) if constant(name) => several(name, leaf).iterator
          case (path, leaf) => difference(path, logged.get(path.toList), inputs, leaf).iterator
        }
    // What is certainly wrong goes first.
    val (different, disagreeing) = verdicts.toSeq.partition(_.isInstanceOf[Differs])
    (different ++ disagreeing).headOption.getOrElse(Same)
  }

  private def missingColumn(output: FooterTotals): Option[Verdict] = {
    val written = output.leaves.keysIterator.map(_.head).toSet
    (schema.fieldNames ++ filled ++ constant).find(!written(_)).map(name =>
      Differs(s"The new file lacks the column $name.")
    )
  }

  private def unfilled(name: String, output: LeafTotals): Option[Verdict] =
    Option.when(!output.nulls.contains(0L)) {
      Differs(s"Rows of the new file have no value in column $name.")
    }

  private def several(name: String, output: LeafTotals): Option[Verdict] = {
    val isOne = output.bounds match {
      case Some(LeafBounds.Numbers(least, greatest)) => least == greatest
      case Some(LeafBounds.Texts(least, greatest)) => least.sameElements(greatest)
      case None => true
    }
    Option.unless(isOne && output.nulls.forall(nulls => nulls == 0 || nulls == output.rows)) {
      Differs(s"Partition column $name has several values in the new file.")
    }
  }

  /** Whether a leaf is in a list or a map, or may be: a variant may be shredded into lists. */
  private def isRepeated(path: Seq[String]): Boolean = {
    def within(dataType: DataType, rest: Seq[String]): Boolean = (dataType, rest) match {
      case (struct: StructType, name +: below) if struct.fieldNames.contains(name) =>
        within(struct(name).dataType, below)
      case (_, rest) => rest.nonEmpty
    }
    within(schema, path)
  }

  private def difference(
      path: Seq[String],
      logged: Option[MergedStats.Column],
      inputs: FooterTotals,
      output: LeafTotals
  ): Option[Verdict] = {
    val input = inputs.leaves.get(path)
    if (isRepeated(path)) repeatedDifference(path, input, inputs, output)
    else
      nullDifference(path, logged.flatMap(_.stats.nullCount), input, inputs, output)
        .orElse(logged.flatMap(boundDifference(_, output)))
  }

  /** A deleted row may have held many values of a list. */
  private def repeatedDifference(
      path: Seq[String],
      input: Option[LeafTotals],
      inputs: FooterTotals,
      output: LeafTotals
  ): Option[Verdict] = {
    def differs(what: String, before: Long, after: Long) =
      Option.when(after > before || after < before && inputs.dropped == 0) {
        byFooters(path, what, before, after)
      }
    for {
      found <- input if found.rows == inputs.rows
      difference <- differs("values", found.values, output.values).orElse {
        for {
          before <- found.nulls if inputs.byParquetMr
          after <- output.nulls
          difference <- differs("nulls", before, after)
        } yield difference
      }
    } yield difference
  }

  /** Either the log or the footers of the inputs may be wrong. If the new file agrees with the other, it is right. */
  private def nullDifference(
      path: Seq[String],
      byLog: Option[Long],
      input: Option[LeafTotals],
      inputs: FooterTotals,
      output: LeafTotals
  ): Option[Verdict] =
    output.nulls.flatMap { after =>
      // Other writers may not count nulls of a struct around the column, and a log may have taken their numbers.
      def mayHaveMore = path.size > 1 && !inputs.byParquetMr
      def isSame(before: Long, dropped: Long) =
        after <= before && after >= before - dropped || after > before && mayHaveMore
      val counted = nullsOf(input, inputs)
      (byLog.filterNot(isSame(_, dropped = 0)), counted.filterNot(isSame(_, inputs.dropped))) match {
        case (None, None) => None
        case (Some(log), None) if counted.isEmpty =>
          Some(
            Differs(s"Column ${path.mkString(".")} has $log nulls by the log, and $after in the new file.")
          )
        case (None, Some(footers)) if byLog.isEmpty => Some(byFooters(path, "nulls", footers, after))
        case (Some(_), Some(footers)) => Some(byFooters(path, "nulls", footers, after))
        case _ =>
          val (log, footers) = (byLog.mkString, counted.mkString)
          Some(InputsDisagree(
            s"the log and the footers disagree on column ${path.mkString(".")}: $log and $footers nulls"
          ))
      }
    }

  private def byFooters(path: Seq[String], what: String, before: Long, after: Long): Verdict = Differs(
    s"Column ${path.mkString(".")} has $before $what by the footers of the inputs, and $after in the new file."
  )

  /** A file without a column counts as nulls only. */
  private def nullsOf(input: Option[LeafTotals], inputs: FooterTotals): Option[Long] = input match {
    case Some(found) if found.rows == inputs.rows || !byId => found.nulls.map(_ + inputs.rows - found.rows)
    case None if !byId => Some(inputs.rows)
    case _ => None
  }

  private def boundDifference(column: MergedStats.Column, output: LeafTotals): Option[Verdict] =
    for {
      min <- column.stats.min
      max <- column.stats.max
      written <- output.bounds
      if !LogBounds.agree(column.dataType, min, max, written, column.isTight)
    } yield Differs(
      s"Column ${column.path.mkString(".")} has values from $min to $max by the log, and others in the new file."
    )
}

object RewriteCheck {

  sealed trait Verdict

  /** Nothing that is known differs. */
  case object Same extends Verdict

  /** The log and the footers of the inputs contradict each other, and the new file agrees with one of them. */
  final case class InputsDisagree(reason: String) extends Verdict

  /** The new file differs from its inputs; `difference` is a sentence. */
  final case class Differs(difference: String) extends Verdict

  /** The number of rows according to the log, if it has it, and to the footers of inputs and output. */
  private def rowDifference(log: Option[Long], inputs: Long, output: Long): Option[Verdict] =
    if (inputs == output && log.forall(_ == output)) None
    else if (inputs == output || log.contains(output))
      Some(InputsDisagree(
        s"the log and the footers disagree on the number of rows: ${log.mkString} and $inputs"
      ))
    else Some(Differs(s"The inputs hold $inputs rows by their footers, the new file $output."))

  /** For inputs without rows, for which no file is written. */
  def ofNoRows(log: MergedStats.Result): Verdict =
    rowDifference(log.rows, Some(0L)).fold[Verdict](Same)(Differs(_))

  /** Says how the number of rows in the log differs from the number written, if both are known. */
  def rowDifference(log: Option[Long], written: Option[Long]): Option[String] =
    for {
      before <- log
      after <- written if before != after
    } yield s"The inputs hold $before rows by the log, and the new files $after."
}
