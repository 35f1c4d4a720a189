package io.deltaupkeep.health

import io.deltaupkeep.{ByteText, CountText, FileTotal}
import io.deltaupkeep.plan.compact.OptimizePlan

/** Checks of the data files. Pure. */
private[health] object FileChecks {

  def of(facts: HealthFacts): Seq[HealthResult] =
    Seq(
      files _,
      smallFiles _,
      ClusterCheck.of _,
      rowGroups _,
      compression _,
      deletedRows _,
      statistics _,
      orphans _
    ).map(check => check(facts))

  private def files(facts: HealthFacts): HealthResult = {
    val FileTotal(files, bytes) = facts.files.total
    val average = if (files == 0) 0L else bytes / files
    val histograms =
      SizeHistogram.details(
        "size" -> facts.files.sizes,
        "sizeAfter" -> sizesAfter(facts.files, facts.optimize)
      )
    new Checks(facts.table).result(
      "files",
      Severity.Ok,
      Some(files.toDouble),
      "files",
      s"The table has ${CountText.of(files, "data file")} of ${ByteText.of(bytes)} in all, " +
        s"${ByteText.of(average)} on average.",
      "A scan sends requests to the store for each file that it cannot skip.",
      details = histograms ++ partitions(facts.files)
    )
  }

  /** Sizes after OPTIMIZE, on the assumption that a new file is as large as its inputs together. */
  private def sizesAfter(files: FileSummary, plan: OptimizePlan): SizeHistogram = {
    val outputs = plan.bins.iterator.flatMap { bin =>
      val count = plan.outputsOf(bin)
      Iterator.fill(count.toInt)(bin.sizeInBytes / count)
    }
    outputs.foldLeft(plan.files.foldLeft(files.sizes)(_ - _.sizeInBytes))(_ + _)
  }

  /** Partitions by name. If there are too many to show, those with the most files. */
  private def partitions(files: FileSummary): Seq[HealthDetail] = {
    val details = files.partitions.map { case (partition, some) =>
      HealthDetail("partition", partition.text, some.files, some.bytes)
    }.toSeq
    val (shown, others) = details.sortBy(detail => (-detail.count, detail.label)).splitAt(MostPartitions)
    shown.sortBy(_.label) ++ Option.when(others.nonEmpty) {
      HealthDetail(
        "otherPartitions",
        CountText.of(others.size, "other partition"),
        others.map(_.count).sum,
        others.map(_.bytes).sum
      )
    }
  }

  private def smallFiles(facts: HealthFacts): HealthResult = {
    val plan = facts.optimize
    val saved = savedFiles(plan)
    // What waits is most probably like what is planned.
    val known = plan.considered - plan.waiting.files
    val share = if (known <= 0) 0d else saved.toDouble / known
    val severity =
      if (plan.isEmpty) Severity.Ok
      else if (share < 0.1) Severity.Info
      else if (saved < 1000) Severity.Warning
      else Severity.Critical
    val message =
      if (plan.isEmpty) "No files are worth rewriting."
      else if (plan.layout.reorders) s"${CountText.of(plan.files.size, "file")} could be clustered."
      else
        s"${CountText.of(plan.files.size, "file")} could become ${plan.files.size - saved}." +
          plan.waits.fold("")(waits => s" $waits.")
    new Checks(facts.table).result(
      "smallFiles",
      severity,
      Some(plan.files.size.toDouble),
      "files",
      message,
      "A scan sends two requests for each file, whatever its size: one for the footer and one for the data.",
      Some(table => s"OPTIMIZE $table"),
      if (plan.isEmpty || (plan.layout.reorders && saved == 0)) Nil else gain(facts)
    )
  }

  /** Clustering large files may also make more files. */
  private def savedFiles(plan: OptimizePlan): Long =
    math.max(0L, plan.files.size - plan.bins.iterator.map(plan.outputsOf).sum)

  /**
   * What OPTIMIZE saves in each full scan: files, two requests for each of them, their footers, and hidden
   * rows.
   */
  private def gain(facts: HealthFacts): Seq[HealthDetail] = {
    val plan = facts.optimize
    val files = savedFiles(plan)
    val footer = if (facts.footers.files == 0) 0L else facts.footers.footerBytes / facts.footers.files
    val hidden = plan.files.map(file => (file.sizeInBytes * file.deletedRowsRatio).toLong).sum
    Seq(
      HealthDetail("gain", "files", files, 0),
      HealthDetail("gain", "requests", files * RequestsOfFile, 0),
      HealthDetail("gain", "bytes", 0, files * footer + hidden)
    )
  }

  private def rowGroups(facts: HealthFacts): HealthResult = {
    val sample = facts.footers
    val sizes = sample.rowGroups
    val average = if (sizes.isEmpty) 0L else sizes.sum / sizes.size
    val message = sample.unreadable match {
      case Seq() if sample.files == 0 => "There are no files whose footers could be read."
      case Seq() =>
        s"${CountText.of(sizes.size, "row group")} in a sample of ${CountText.of(sample.files, "file")}, " +
          s"${ByteText.of(average)} on average."
      case some =>
        s"${some.size} of ${CountText.of(sample.files, "file")} in a sample cannot be read: ${some.head}."
    }
    new Checks(facts.table).result(
      "rowGroups",
      if (sample.unreadable.nonEmpty) Severity.Critical else Severity.Ok,
      Option.when(sizes.nonEmpty)(average.toDouble),
      "bytes",
      message,
      "A row group is what one task reads at a time, and what statistics skip.",
      details = SizeHistogram.details("rowGroup" -> SizeHistogram.of(sizes))
    )
  }

  private def compression(facts: HealthFacts): HealthResult = {
    val sample = facts.codecs
    val total = facts.files.total.bytes
    val best = sample.asked.getOrElse(BestCodec)
    def ofTable(bytes: Long): Long = (total.toDouble * bytes / sample.stored).toLong
    val estimate = sample.codecs.get(best).filter(_ => sample.stored > 0).map(ofTable)
    val saved = estimate.map(bytes => math.max(0L, total - bytes))
    val percent = saved.map(bytes => if (total == 0) 0d else 100d * bytes / total)
    val isWorthIt = sample.found != Set(best) && percent.exists(_ >= 10) && saved.exists(_ >= LeastSaved)
    def asFound = s"${CountText.of(sample.files, "file")} (${sample.found.toSeq.sorted.mkString(", ")})"
    val message = (sample.unreadable.headOption, estimate) match {
      case (Some(problem), _) => s"Pages of some files cannot be read: $problem."
      case (_, None) => s"It is not known what the table would take with $best."
      case (_, Some(bytes)) =>
        val less = percent.filter(_ >= 1).fold("no less than now")(share => f"$share%.0f%% less than now")
        s"Judging by a few pages of $asFound, the table would take ${ByteText.of(bytes)} with $best, $less."
    }
    new Checks(facts.table).result(
      "compression",
      if (sample.unreadable.nonEmpty) Severity.Critical else if (isWorthIt) Severity.Info else Severity.Ok,
      percent,
      "percent",
      message,
      "Smaller pages take less storage, and less time to fetch.",
      Option.when(isWorthIt)(table => s"OPTIMIZE $table OPTIONS (codec = '$best')"),
      sample.codecs.filter(_ => sample.stored > 0).toSeq.sorted.map { case (codec, bytes) =>
        HealthDetail("codec", codec, sample.files.toLong, ofTable(bytes))
      }
    )
  }

  private def deletedRows(facts: HealthFacts): HealthResult = {
    val deleted = facts.files.deletedRows
    val physical = facts.files.physicalRows
    val percent = if (physical == 0) 0d else 100d * deleted / physical
    val severity = if (percent > 5) Severity.Warning else if (deleted > 0) Severity.Info else Severity.Ok
    val message =
      if (deleted == 0) "Deletion vectors hide no rows."
      else s"Deletion vectors hide ${CountText.of(deleted, "row")}."
    new Checks(facts.table).result(
      "deletedRows",
      severity,
      Some(percent),
      "percent",
      message,
      "Scans read the rows that deletion vectors hide, and drop them.",
      Some(table => s"OPTIMIZE $table")
    )
  }

  private def statistics(facts: HealthFacts): HealthResult = {
    val FileTotal(lacking, bytes) = facts.withoutStatistics
    val (miscounted, sample) = (facts.footers.miscounted, facts.footers.files)
    val files = facts.files.total.files
    val (severity, message, mode) =
      if (miscounted > 0)
        (
          Severity.Critical,
          s"In a sample of ${CountText.of(sample, "file")}, the log has another number of rows than the footer " +
            s"for $miscounted.",
          " OPTIONS (mode = 'all')"
        )
      else if (lacking == 0) (Severity.Ok, "All files have the statistics that the table collects.", "")
      else
        (
          if (lacking * 10 < files) Severity.Info else Severity.Warning,
          s"Statistics, or those of some columns, are missing for ${CountText.of(lacking, "file")} of " +
            s"${ByteText.of(bytes)}.",
          ""
        )
    new Checks(facts.table).result(
      "statistics",
      severity,
      Some(lacking.toDouble),
      "files",
      message,
      "A scan skips files by their statistics. Clustering and row tracking need the number of rows.",
      Some(table => s"ANALYZE TABLE $table COMPUTE DELTA STATISTICS$mode")
    )
  }

  private def orphans(facts: HealthFacts): HealthResult = {
    val (severity, value, message) = facts.orphans match {
      case Orphans.NotLookedFor(reason) => (Severity.Ok, None, s"Not searched for: $reason.")
      case Orphans.Found(FileTotal(0, _)) =>
        (Severity.Ok, Some(0d), "No orphaned files were found.")
      case Orphans.Found(FileTotal(files, bytes)) =>
        val text =
          s"No version inside retention names ${CountText.of(files, "file")} of ${ByteText.of(bytes)}."
        (if (files < 1000) Severity.Info else Severity.Warning, Some(files.toDouble), text)
    }
    new Checks(facts.table).result(
      "orphans",
      severity,
      value,
      "files",
      message,
      "Failed writers left them, or they were removed from the table long ago. They only take up storage.",
      Some(table => s"VACUUM $table OPTIONS (mode = 'full')")
    )
  }

  /** The footer, and at least one range of data. */
  private val RequestsOfFile = 2L

  /** Of those that are read fast, the one with the smallest pages. */
  private val BestCodec = "zstd"

  /** Bytes for which files are worth rewriting. */
  private val LeastSaved = 1L << 20
  private val MostPartitions = 200
}
