package org.apache.spark.sql.delta.upkeep.read

import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.FileStatus

import org.apache.spark.sql.delta.upkeep.spark.SparkApi.ClassicSession
import org.apache.spark.sql.delta.upkeep.table.DamagedAction
import org.apache.spark.sql.Encoders
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.encoders.{encoderFor, ExpressionEncoder}
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.delta.Snapshot
import org.apache.spark.sql.delta.actions.{Action, DomainMetadata, Metadata, Protocol, SetTransaction}
import org.apache.spark.sql.types.StructType

/** The columns of a row with a non-file action; one of them is set. */
private[upkeep] final case class NonFileActions(
    txn: SetTransaction,
    metaData: Metadata,
    protocol: Protocol,
    domainMetadata: DomainMetadata
) {
  def action: Action = Seq(txn, metaData, protocol, domainMetadata).find(_ != null).orNull
}

private[upkeep] object NonFileActions {

  private val encoder: ExpressionEncoder[NonFileActions] = encoderFor(Encoders.product[NonFileActions])

  private def of(action: Action): NonFileActions = {
    val wrapped = action.wrap
    NonFileActions(wrapped.txn, wrapped.metaData, wrapped.protocol, wrapped.domainMetadata)
  }

  /** To generate the code of one takes longer than to read all such actions of most tables. */
  private val readers = new ConcurrentHashMap[StructType, InternalRow => Action]
  private lazy val serialize = encoder.createSerializer()

  /** Reads rows in Spark's internal form. Thread-safe. It is kept, so not for schemas that belong to one table. */
  def reader(schema: StructType): InternalRow => Action = {
    val read = readers.computeIfAbsent(schema, newReader(_))
    row => read.synchronized(read(row))
  }

  private def newReader(schema: StructType): InternalRow => Action = {
    val read = encoder.resolveAndBind(DataTypeUtils.toAttributes(schema)).createDeserializer()
    row => DamagedAction.in(read(row).action)
  }

  /** The actions of such rows. */
  def of(rows: Seq[InternalRow], schema: StructType): Seq[Action] =
    if (rows.isEmpty) Nil else rows.map(newReader(schema))

  /**
   * The newest action for each application and domain, the metadata and the protocol, without what a checkpoint leaves
   * out: removed domains and expired applications (protocol, 'Action Reconciliation').
   *
   * @param newestFirst actions of commits and of the checkpoint before them
   */
  def newest(newestFirst: Seq[Action], snapshot: Snapshot): Seq[Action] = {
    val oldest = snapshot.minSetTransactionRetentionTimestamp
    newestFirst.distinctBy {
      case txn: SetTransaction => ("txn", txn.appId)
      case domain: DomainMetadata => ("domain", domain.domain)
      case other => (other.getClass.getName, "")
    }.filter {
      case txn: SetTransaction => oldest.forall(time => txn.lastUpdated.exists(_ > time))
      case domain: DomainMetadata => !domain.removed
      // Not those about a checkpoint itself.
      case action => action.isInstanceOf[Metadata] || action.isInstanceOf[Protocol]
    }
  }

  /** Rows with these actions. */
  def rows(actions: Seq[Action], schema: StructType): Iterator[InternalRow] = {
    val columns = schema.map(column => encoder.schema.getFieldIndex(column.name)).toArray
    actions.iterator.map { action =>
      val row = synchronized(serialize(of(action)).copy())
      val values: Array[Any] = columns.map {
        case Some(i) if !row.isNullAt(i) => row.get(i, encoder.schema(i).dataType)
        case _ => null
      }
      new GenericInternalRow(values)
    }
  }

  /** The actions in files of a checkpoint, read on the driver. Reads the footers first. */
  def in(files: Seq[FileStatus], session: ClassicSession, conf: Configuration): Seq[Action] = {
    val stored = new CheckpointRows(Columns, session, conf)
    val rows = Seq.newBuilder[InternalRow]
    files.zip(CheckpointFooter.readAll(files, conf)(_.rowGroupsOfOthers)).foreach { case (file, rowGroups) =>
      stored.foreach(file, rowGroups) { row =>
        if ((0 until Columns.size).exists(!row.isNullAt(_))) rows += row.copy()
      }
    }
    rows.result().map(reader(Columns))
  }

  private lazy val Columns =
    StructType(Seq("txn", "metaData", "protocol", "domainMetadata").map(Action.logSchema(_)))
}
