package org.apache.spark.sql.delta.upkeep.optimize

import io.deltaupkeep.parquet.cut.{Curve, KeyOrder}
import io.deltaupkeep.plan.cluster.{ClusterForecast, OrderedBin}
import io.deltaupkeep.plan.compact.{
  CodecFindings,
  DataFile,
  InputCubes,
  KeyForecast,
  Layout,
  OptimizePlan,
  OptimizeSettings,
  Tier
}
import io.deltaupkeep.stats.{KeyBounds, KeyRange}

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.delta.DeltaOperations.Operation
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.commands.OptimizeTableStrategy
import org.apache.spark.sql.delta.skipping.MultiDimClustering
import org.apache.spark.sql.delta.upkeep.rewrite.RewriteLayout
import org.apache.spark.sql.delta.upkeep.splice.{CurveOf, SpliceEligibility}
import org.apache.spark.sql.delta.upkeep.files.SelectedFiles
import org.apache.spark.sql.delta.upkeep.table.DeltaHandle
import org.apache.spark.sql.delta.upkeep.versions.DeltaApi

/** Everything that differs between layouts: the plan, new files, and what the history and the result say. */
private[upkeep] trait TableLayout extends RewriteLayout {

  /** @param codecs of files that would not be rewritten otherwise */
  def plan(selected: SelectedFiles, settings: OptimizeSettings, codecs: CodecFindings): OptimizePlan

  /** Whether files with another codec than was asked for are rewritten, even if the layout leaves them alone. */
  def recompresses: Boolean = false

  /** The files that a plan may choose. */
  def mayChoose(settings: OptimizeSettings): DataFile => Boolean = _ => true

  /** Whether its plan needs Delta's actions of all files. */
  def needsActions: Boolean

  /** What the history shows. */
  def operation(predicate: Seq[Expression], isAuto: Boolean): Operation

  def isZOrder: Boolean = false

  /** How well keys separate the files before and after a plan, if it puts rows in order. */
  def forecast(selected: SelectedFiles, plan: OptimizePlan): Seq[KeyForecast] = Nil

  /** Which of the files are clustered already, if the layout clusters. */
  def inputCubes(adds: => Iterable[AddFile]): Option[InputCubes] = None
}

private[upkeep] object TableLayout {

  def of(table: DeltaHandle, layout: Layout): TableLayout = layout match {
    case Layout.Compact => new CompactLayout(table)
    case purge: Layout.Purge => new PurgeLayout(table, purge)
    case zOrder: Layout.ZOrder => new ZOrderLayout(table, zOrder)
    case sort: Layout.Sort => new SortLayout(table, sort)
    case cluster: Layout.Cluster => new ClusterLayout(table, cluster)
  }
}

/** How the layouts of a table make new files. */
private[optimize] abstract class LayoutOf(table: DeltaHandle) extends TableLayout {

  /** Why no file of the table can be spliced, or None. */
  protected def needsRows: Option[Tier.Rows] = SpliceEligibility.rowsReason(table.session, table.snapshot)
}

/** Rows keep their order, and each bin becomes one file. */
private[optimize] abstract class KeptOrder(table: DeltaHandle) extends LayoutOf(table) {

  override def arranged(rows: DataFrame, outputs: Int): DataFrame = rows.coalesce(1)

  override def marked(targetFileSize: Long): AddFile => AddFile =
    _.copyWithTags(Map(AddFile.Tags.OPTIMIZE_TARGET_SIZE.name -> targetFileSize.toString))
}

/** Rows are put in another order. */
private[optimize] abstract class Reordered(table: DeltaHandle, columns: Seq[String]) extends LayoutOf(table) {

  protected def order: KeyOrder

  private lazy val keys = KeyColumn.named(table, columns) match {
    case Nil =>
      throw new IllegalStateException(s"${table.name} lacks one of the columns ${columns.mkString(", ")}")
    case all => all
  }

  override def curve: Option[CurveOf] = Some(CurveOf(keys.map(_.path), order))

  override def recompresses: Boolean = true

  override def needsActions: Boolean = true

  override def forecast(selected: SelectedFiles, plan: OptimizePlan): Seq[KeyForecast] = {
    val files = selected.files.toIndexedSeq
    val positions = files.iterator.map(_.id).zipWithIndex.toMap
    val bins =
      plan.bins.map(bin => OrderedBin(bin.files.map(file => positions(file.id)), plan.outputsOf(bin)))
    val forecast =
      new ClusterForecast(files.map(file => file.partition -> file.sizeInBytes), order, keys.size)
    keys.zip(rangesOf(selected)(files)).zipWithIndex.map { case ((key, ranges), number) =>
      val (before, after) = forecast.opened(number, ranges, bins)
      KeyForecast(key.name, 100 * before, 100 * after)
    }
  }

  /** The ranges of values of files, for each column. */
  protected def rangesOf(selected: SelectedFiles)(files: IndexedSeq[DataFile]): Seq[IndexedSeq[KeyRange]] =
    KeyBounds
      .of(keys.map(key => key.path -> key.dataType), files.map(selected.actionOf(_).stats))
      .map(_.ranges)
}

/** Rows are ordered along one of Delta's curves, and Delta tags the new files. */
private[optimize] abstract class AlongCurve(
    table: DeltaHandle,
    columns: Seq[String],
    zOrderBy: Seq[String],
    full: Boolean
) extends Reordered(table, columns) {

  protected lazy val strategy: OptimizeTableStrategy = OptimizeTableStrategy(
    table.session,
    table.snapshot,
    DeltaApi.current.optimizeContext("OPTIMIZE", full),
    zOrderBy
  )

  override protected def order: KeyOrder =
    if (strategy.curve == "hilbert" && columns.size > 1) Curve.Hilbert else Curve.ZOrder

  override def arranged(rows: DataFrame, outputs: Int): DataFrame =
    MultiDimClustering.cluster(rows, outputs, columns, strategy.curve)

  override def marked(targetFileSize: Long): AddFile => AddFile = {
    val bin = strategy.initNewBin
    strategy.tagAddFile(_, bin)
  }
}
