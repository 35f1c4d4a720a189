package io.deltaupkeep.health

import io.deltaupkeep.{ByteText, CountText, FileTotal}
import io.deltaupkeep.plan.cluster.{ClusterQuality, KeyQuality}

/** The check of a table's clustering. Pure. */
private[health] object ClusterCheck {

  def of(facts: HealthFacts): HealthResult = facts.clustering match {
    case None =>
      result(
        facts,
        Severity.Ok,
        None,
        "No order of files is known: there are none, or the table has neither CLUSTER BY nor files in Z-order or sorted by its columns."
      )
    case Some(quality) =>
      val isLiquid = facts.table.clusteringColumns.nonEmpty
      // ZORDER BY takes files in another order too. OPTIMIZE leaves what was clustered by other columns.
      val bytes = quality.unclustered.bytes + (if (isLiquid) 0 else quality.byOthers.bytes)
      val share = if (quality.all.bytes == 0) 0d else bytes.toDouble / quality.all.bytes
      val opensMore = quality.keys.exists(_.depth > 1)
      result(
        facts,
        if (!opensMore) Severity.Ok
        else if (share >= Urgent) Severity.Warning else if (share >= Noted) Severity.Info else Severity.Ok,
        Some(100 * quality.opened),
        message(quality, if (facts.table.partitionColumns.isEmpty) "" else " of a partition"),
        Some(table => s"OPTIMIZE $table" + quality.clause.fold("")(" " + _)),
        detailsOf(quality)
      )
  }

  private def result(
      facts: HealthFacts,
      severity: Severity,
      value: Option[Double],
      message: String,
      remedy: Option[String => String] = None,
      details: Seq[HealthDetail] = Nil
  ): HealthResult = new Checks(facts.table).result(
    "clustering",
    severity,
    value,
    "percent",
    message,
    "A query for one value skips the files whose range of values does not hold it.",
    remedy,
    details
  )

  private def message(quality: ClusterQuality, which: String): String = {
    val keys = quality.keys.map { key =>
      f"a query for one value of ${key.name} opens up to ${key.depth}%.1f files$which on average " +
        f"(${100 * key.opened}%.0f%%)${rowGroups(key)}, and a file overlaps ${key.overlap}%.1f others"
    }
    val rest = Seq(quality.unclustered -> "not clustered", quality.byOthers -> "clustered by other columns")
      .collect {
        case (some, how) if some.files > 0 =>
          s" ${CountText.of(some.files, "file")} of ${ByteText.of(some.bytes)} " +
            s"${if (some.files == 1) "is" else "are"} $how."
      }
    s"By the statistics of ${CountText.of(quality.all.files, "file")}, ${keys.mkString("; ")}.${rest.mkString}"
  }

  private def rowGroups(key: KeyQuality): String =
    key.inFile.fold("")(share => f" and ${100 * share}%.0f%% of the row groups of those that are in order")

  private def detailsOf(quality: ClusterQuality): Seq[HealthDetail] = {
    val clustered = FileTotal(
      quality.all.files - quality.unclustered.files - quality.byOthers.files,
      quality.all.bytes - quality.unclustered.bytes - quality.byOthers.bytes
    )
    val states = Seq(
      "clustered" -> clustered,
      "clustered by other columns" -> quality.byOthers,
      "not clustered" -> quality.unclustered
    )
    states.map { case (state, total) => HealthDetail("clustered", state, total.files, total.bytes) } ++
      quality.keys.flatMap(profileOf)
  }

  private def profileOf(key: KeyQuality): Seq[HealthDetail] = key.profile.map { case (value, total) =>
    HealthDetail(s"values of ${key.name}", value, total.files, total.bytes)
  }

  /** Shares of the table's bytes that are not clustered. */
  private val Noted = 0.1
  private val Urgent = 0.3
}
