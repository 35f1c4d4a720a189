package io.deltaupkeep.parquet.page

import io.deltaupkeep.parquet.bytes.ByteSink
import io.deltaupkeep.parquet.encoding.{LevelBuffer, ValueShape, Values}

import org.apache.parquet.column.ColumnDescriptor

/** The values of a column as a row writer produces them: levels, and contiguous PLAIN values. */
private[parquet] final class ColumnBuffer(override val column: ColumnDescriptor) extends PageData {

  override val repetition = new LevelBuffer
  override val definition = new LevelBuffer
  override val values = new Values

  val shape: ValueShape = ValueShape.of(column.getPrimitiveType)

  /** A writer calls [[defined]], then writes the value here. */
  val plain = new ByteSink()

  override def levels: Int = definition.size
  var nonNull: Int = 0
  override def isDictionaryEncoded: Boolean = false
  override def ids: Array[Int] = Array.emptyIntArray
  override def dictionary: Option[Values] = None

  /** Approximate memory in bytes. */
  def bytes: Long = plain.length + 4L * (repetition.stored + definition.stored)

  def addNull(repetitionLevel: Int, definitionLevel: Int): Unit = {
    repetition.add(repetitionLevel)
    definition.add(definitionLevel)
  }

  /** Says that a value follows. */
  def defined(repetitionLevel: Int): Unit = {
    addNull(repetitionLevel, maxDefinition)
    nonNull += 1
  }

  /** Says that `count` values follow, each in its own row. */
  def definedAll(count: Int): Unit = {
    repetition.add(0, count)
    definition.add(maxDefinition, count)
    nonNull += count
  }

  def addAll(other: ColumnBuffer): Unit = {
    repetition.add(other.repetition, 0, other.levels)
    definition.add(other.definition, 0, other.levels)
    plain.putBytes(other.plain.array, 0, other.plain.length)
    nonNull += other.nonNull
  }

  /** Makes the values readable. */
  def complete(): this.type = {
    values.set(shape, plain.array, 0, plain.length, nonNull)
    this
  }

  def clear(): Unit = {
    repetition.clear()
    definition.clear()
    plain.clear()
    nonNull = 0
  }
}
