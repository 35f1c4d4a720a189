package io.deltaupkeep.parquet.file

import scala.jdk.CollectionConverters._

import io.deltaupkeep.parquet.bytes.ByteSink
import io.deltaupkeep.parquet.page.ColumnBuffer

import org.apache.parquet.io.api.{Binary, RecordConsumer}
import org.apache.parquet.schema.{MessageType, Type}

/**
 * Takes rows from any `WriteSupport` of parquet-java and holds them as columns, for [[RowGroupFile]] to
 * write: Dremel levels and PLAIN values. Nothing is encoded yet, so rows from several threads can be merged.
 *
 * @param schema of the rows
 */
final class RowShredder(val schema: MessageType) extends RecordConsumer {

  private[parquet] val columns: IndexedSeq[ColumnBuffer] =
    schema.getColumns.asScala.map(new ColumnBuffer(_)).toIndexedSeq
  private var rowCount = 0

  private val root = node(schema, Nil)
  // By depth, 0 being the message: the open group, the repetition level of its first value, its open field, and
  // the repetition level of that field's next value.
  private val depths = columns.map(_.column.getPath.length).maxOption.getOrElse(0) + 1
  private val groups = new Array[ShreddedNode](depths)
  private val starts = new Array[Int](depths)
  private val fields = new Array[ShreddedNode](depths)
  private val repetitions = new Array[Int](depths)
  private var depth = 0

  private def node(of: Type, path: List[String]): ShreddedNode = {
    val children =
      if (of.isPrimitive) Nil
      else of.asGroupType.getFields.asScala.map(child => node(child, path :+ child.getName))
    val below = columns.filter(_.column.getPath.toList.startsWith(path))
    val at = path.toArray
    new ShreddedNode(
      children.toArray,
      below.toArray,
      schema.getMaxRepetitionLevel(at: _*),
      schema.getMaxDefinitionLevel(at: _*)
    )
  }

  def rows: Int = rowCount

  /** Approximate memory in bytes. */
  def bytes: Long = {
    var sum = 0L
    var i = 0
    while (i < columns.size) {
      sum += columns(i).bytes
      i += 1
    }
    sum
  }

  /** Appends the rows of another shredder. */
  def addAll(other: RowShredder): Unit = {
    columns.zip(other.columns).foreach { case (column, more) => column.addAll(more) }
    rowCount += other.rowCount
  }

  /** The only row's value in a top-level column, in PLAIN encoding; None for null. */
  def onlyValue(name: String): Option[Array[Byte]] = {
    require(rowCount == 1)
    columns.find(_.column.getPath.sameElements(Array(name))).filter(_.nonNull == 1).map(_.plain.toArray)
  }

  def clear(): Unit = {
    columns.foreach(_.clear())
    rowCount = 0
  }

  override def startMessage(): Unit = {
    depth = 0
    open(root, 0)
  }

  override def endMessage(): Unit = {
    close()
    rowCount += 1
  }

  override def startField(name: String, index: Int): Unit = {
    val group = groups(depth)
    group.isWritten(index) = true
    fields(depth) = group.children(index)
    repetitions(depth) = starts(depth)
  }

  override def endField(name: String, index: Int): Unit = ()

  override def startGroup(): Unit = {
    depth += 1
    open(fields(depth - 1), repetitions(depth - 1))
  }

  override def endGroup(): Unit = {
    close()
    depth -= 1
    repetitions(depth) = fields(depth).maxRepetition
  }

  private def open(group: ShreddedNode, repetition: Int): Unit = {
    groups(depth) = group
    starts(depth) = repetition
    java.util.Arrays.fill(group.isWritten, false)
  }

  /** Fields that were not written are null. */
  private def close(): Unit = {
    val group = groups(depth)
    var i = 0
    while (i < group.children.length) {
      if (!group.isWritten(i)) {
        val below = group.children(i).columns
        var j = 0
        while (j < below.length) {
          below(j).addNull(starts(depth), group.maxDefinition)
          j += 1
        }
      }
      i += 1
    }
  }

  /** Where the next value is written. */
  private def value(): ByteSink = {
    val field = fields(depth)
    val column = field.columns(0)
    column.defined(repetitions(depth))
    repetitions(depth) = field.maxRepetition
    column.plain
  }

  override def addInteger(value: Int): Unit = this.value().putInt(value)

  override def addLong(value: Long): Unit = this.value().putLong(value)

  override def addBoolean(value: Boolean): Unit = this.value().put(if (value) 1 else 0)

  override def addFloat(value: Float): Unit = this.value().putInt(java.lang.Float.floatToRawIntBits(value))

  override def addDouble(value: Double): Unit =
    this.value().putLong(java.lang.Double.doubleToRawLongBits(value))

  override def addBinary(value: Binary): Unit = {
    val isVariable = fields(depth).columns(0).shape.isVariable
    val to = this.value()
    val bytes = value.getBytesUnsafe
    if (isVariable) to.putInt(bytes.length)
    to.putBytes(bytes, 0, bytes.length)
  }
}

/**
 * A field of the schema.
 *
 * @param children empty for a column
 * @param columns  at or below it
 */
private final class ShreddedNode(
    val children: Array[ShreddedNode],
    val columns: Array[ColumnBuffer],
    val maxRepetition: Int,
    val maxDefinition: Int
) {
  val isWritten = new Array[Boolean](children.length)
}
