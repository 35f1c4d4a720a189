package io.deltaupkeep.parquet

import io.deltaupkeep.parquet.page.PageLayout
import io.deltaupkeep.parquet.plan.SpliceSettings

import org.apache.parquet.hadoop.metadata.CompressionCodecName

/** Limits that a test meets with little data. */
object SmallSpliceSettings {
  def apply(): SpliceSettings = SpliceSettings(
    rowGroupBytes = 1 << 20,
    copyFromBytes = 1 << 18,
    bytesInFlight = 4 << 20,
    gatherBytes = 32L << 20,
    heldFileBytes = 1 << 20,
    fetches = 2,
    threads = 2,
    codec = CompressionCodecName.SNAPPY,
    layout = PageLayout(pageRows = 100, pageBytes = 1 << 12, dictionaryBytes = 1 << 12),
    bloomFilterBytes = 1 << 20,
    maxPadding = 0,
    matchById = false,
    keepsForms = true,
    shiftsForeignInt96 = false
  )
}
