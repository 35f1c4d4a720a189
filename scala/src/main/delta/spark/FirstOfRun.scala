package org.apache.spark.sql.delta.upkeep.spark

import java.util.Objects

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, Nondeterministic, Predicate}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.unsafe.types.UTF8String

/**
 * True for the first row of each run of rows in a partition with the same keys.
 *
 * @param hash   a number, equal for equal keys
 * @param first  a string, as is `second`; may be null
 */
private[upkeep] final case class FirstOfRun(hash: Expression, first: Expression, second: Expression)
    extends Expression
    with Nondeterministic
    with Predicate
    with CodegenFallback {

  @transient private var started = false
  @transient private var lastHash = 0L
  @transient private var lastFirst: UTF8String = _
  @transient private var lastSecond: UTF8String = _

  override def children: Seq[Expression] = Seq(hash, first, second)

  override def nullable: Boolean = false

  override def stateful: Boolean = true

  override protected def initializeInternal(partitionIndex: Int): Unit = started = false

  override protected def evalInternal(row: InternalRow): Any = {
    val rowHash = hash.eval(row).asInstanceOf[Long]
    val rowFirst = first.eval(row).asInstanceOf[UTF8String]
    val rowSecond = second.eval(row).asInstanceOf[UTF8String]
    val isSame = started && rowHash == lastHash && Objects.equals(rowFirst, lastFirst) &&
      Objects.equals(rowSecond, lastSecond)
    if (!isSame) {
      started = true
      lastHash = rowHash
      // The row object is reused for the next one.
      lastFirst = Option(rowFirst).map(_.copy()).orNull
      lastSecond = Option(rowSecond).map(_.copy()).orNull
    }
    !isSame
  }

  override protected def withNewChildrenInternal(children: IndexedSeq[Expression]): Expression =
    FirstOfRun(children(0), children(1), children(2))
}

private[upkeep] object FirstOfRun {

  def apply(hash: Column, first: Column, second: Column): Column =
    SparkApi.column(FirstOfRun(
      SparkApi.expression(hash),
      SparkApi.expression(first),
      SparkApi.expression(second)
    ))
}
