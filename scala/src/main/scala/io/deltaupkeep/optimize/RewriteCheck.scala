package io.deltaupkeep.optimize

import io.deltaupkeep.parquet.footer.{FooterTotals, LeafBounds, LeafTotals, SplicedTotals}

import org.apache.spark.sql.types._

/**
 * Compares what a new file says of its rows with what its inputs say: the log, the footers of the inputs and
 * the footer that was written. These numbers are known anyway. The check uses nothing of the code that
 * decides how files are spliced: it finds the columns itself, by the names in the table's schema. Pure.
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
    val bounds = log.columns.map(column => column.path -> column).toMap
    val differences =
      rowDifference(log.rows, inputs.rows - inputs.dropped, output.rows).iterator ++ missingColumn(output).iterator ++
        output.leaves.iterator.flatMap {
          case (Seq(name), leaf) if filled(name) => unfilled(name, leaf).iterator
          case (Seq(name), leaf) if constant(name) => several(name, leaf).iterator
          case (path, leaf) =>
            val place = placeOf(path)
            val input = inputOf(path, place, inputs)
            valueDifference(path, place, input, inputs, leaf).iterator ++
              bounds.get(path.toList).iterator.flatMap(logDifference(_, inputs, input, leaf))
        }
    differences.nextOption().getOrElse(Same)
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

  private def placeOf(path: Seq[String]): Place = {
    def within(dataType: DataType, rest: Seq[String], fields: Seq[String], repeated: Boolean): Place =
      (dataType, rest) match {
        case (struct: StructType, name +: below) if struct.fieldNames.contains(name) =>
          within(struct(name).dataType, below, fields :+ name, repeated)
        // A list adds two groups to the path, and a map adds one before its key and value.
        case (ArrayType(element, _), _) => within(element, rest.drop(2), fields, repeated = true)
        case (MapType(key, value, _), _) =>
          within(if (rest.lift(1).contains("key")) key else value, rest.drop(2), fields, repeated = true)
        // Of a variant, which may be shredded into lists.
        case (_, _ +: _) => Place(fields, isRepeated = true)
        case _ => Place(fields, repeated)
      }
    within(schema, path, Nil, repeated = false)
  }

  /** The inputs' leaf for one of the output; older writers name the groups of lists differently. */
  private def inputOf(path: Seq[String], place: Place, inputs: FooterTotals): Option[LeafTotals] =
    inputs.leaves.get(path).orElse {
      val alike =
        inputs.leaves.keys.filter(other => other.head == path.head && isWithin(place.fields, other)).toSeq
      val candidates = if (alike.size > 1) alike.filter(_.last == path.last) else alike
      Option.when(place.isRepeated && candidates.size == 1)(inputs.leaves(candidates.head))
    }

  private def isWithin(fields: Seq[String], path: Seq[String]): Boolean =
    path.foldLeft(fields)((left, name) => if (left.headOption.contains(name)) left.drop(1) else left).isEmpty

  private def valueDifference(
      path: Seq[String],
      place: Place,
      input: Option[LeafTotals],
      inputs: FooterTotals,
      output: LeafTotals
  ): Option[Verdict] = {
    // A value of a list that goes may be one of many.
    def least(before: Long) =
      if (inputs.dropped == 0) before else if (place.isRepeated) 0 else before - inputs.dropped
    def differs(what: String, before: Long, after: Long) =
      Option.when(after > before || after < least(before)) {
        Differs(
          s"Column ${path.mkString(".")} has $before $what by the footers of the inputs, and $after in the new file."
        )
      }
    if (place.isRepeated)
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
    else
      for {
        before <- nullsOf(input, inputs)
        after <- output.nulls
        // Other writers may not count the nulls of a struct around the column.
        if path.size == 1 || inputs.byParquetMr || after < before
        difference <- differs("nulls", before, after)
      } yield difference
  }

  /** A file without a column counts as nulls only. */
  private def nullsOf(input: Option[LeafTotals], inputs: FooterTotals): Option[Long] = input match {
    case Some(found) if found.rows == inputs.rows || !byId => found.nulls.map(_ + inputs.rows - found.rows)
    case None if !byId => Some(inputs.rows)
    case _ => None
  }

  private def logDifference(
      column: MergedStats.Column,
      inputs: FooterTotals,
      input: Option[LeafTotals],
      output: LeafTotals
  ): Option[Verdict] = {
    val name = column.path.mkString(".")
    val nulls =
      for {
        before <- column.stats.nullCount
        after <- output.nulls if before != after
      } yield
        if (column.path.size == 1 && nullsOf(input, inputs).contains(after))
          InputsDisagree(s"the log and the footers disagree on column $name: $before and $after nulls")
        else Differs(s"Column $name has $before nulls by the log, and $after in the new file.")
    nulls.orElse {
      for {
        min <- column.stats.min
        max <- column.stats.max
        written <- output.bounds
        if !LogBounds.agree(column.dataType, min, max, written, column.isTight)
      } yield Differs(
        s"Column $name has values from $min to $max by the log, and others in the new file."
      )
    }
  }
}

object RewriteCheck {

  sealed trait Verdict

  /** Nothing that is known differs. */
  case object Same extends Verdict

  /** The log and the footers of the inputs contradict each other, and the new file agrees with the footers. */
  final case class InputsDisagree(reason: String) extends Verdict

  /** The new file differs from its inputs; `difference` is a sentence. */
  final case class Differs(difference: String) extends Verdict

  /**
   * Where a leaf is in the table.
   *
   * @param fields     names of the struct fields on the way to it
   * @param isRepeated whether it is in a list or a map, or may be
   */
  private final case class Place(fields: Seq[String], isRepeated: Boolean)

  /** The number of rows by the log, if it has it, and by the footers of inputs and output. */
  private def rowDifference(log: Option[Long], inputs: Long, output: Long): Option[Verdict] =
    if (inputs != output)
      Some(Differs(s"The inputs hold $inputs rows by their footers, the new file $output."))
    else rowDifference(log, Some(output)).map(Differs)

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
