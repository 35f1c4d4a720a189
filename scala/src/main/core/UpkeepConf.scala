package io.deltaupkeep

import java.util.concurrent.TimeUnit

import org.apache.spark.network.util.ByteUnit
import org.apache.spark.sql.internal.SQLConf

/** Session settings, `spark.deltaUpkeep.*`; each is declared here once. */
object UpkeepConf {

  val OptimizeEngine = SQLConf
    .buildConf("spark.deltaUpkeep.optimize.engine")
    .doc(
      "How OPTIMIZE writes new files. 'auto' merges Parquet files without decoding rows where that is exact; " +
        "'rows' reads and writes rows, as Delta does."
    )
    .version("0.1.0")
    .stringConf
    .checkValues(Set("auto", "rows"))
    .createWithDefault("auto")

  val OptimizeBytesInFlight = SQLConf
    .buildConf("spark.deltaUpkeep.optimize.bytesInFlight")
    .doc(
      "How many bytes of input files, with their footers, a task of OPTIMIZE holds at a time. A row group of a " +
        "new file takes at most this much memory, and a page at most half of it; larger ones are rewritten row " +
        "by row. A task needs about two and a half times this much memory."
    )
    .version("0.1.0")
    .bytesConf(ByteUnit.BYTE)
    .checkValue(_ >= 1024 * 1024, "must be at least 1m")
    .createWithDefaultString("128m")

  val OptimizeFetches = SQLConf
    .buildConf("spark.deltaUpkeep.optimize.fetches")
    .doc("How many input files a task of OPTIMIZE fetches at the same time.")
    .version("0.1.0")
    .intConf
    .checkValue(_ >= 1, "must be at least 1")
    .createWithDefault(4)

  val OptimizeVerify = SQLConf
    .buildConf("spark.deltaUpkeep.optimize.verify")
    .doc(
      "Whether OPTIMIZE and auto-compaction compare the rows of the new files with those of their inputs " +
        "before each commit, both as Spark reads them. Bins that differ are not committed, and the error is " +
        "REWRITE_MISMATCH."
    )
    .version("0.1.0")
    .booleanConf
    .createWithDefault(false)

  val OptimizeSpotCheck = SQLConf
    .buildConf("spark.deltaUpkeep.optimize.spotCheck")
    .doc(
      "How many input files of each new file are spot-checked, besides one of each kind: Spark reads a few rows of " +
        "the input and of the new file and compares them, in the task that wrote it. -1 turns this off."
    )
    .version("0.1.0")
    .intConf
    .checkValue(_ >= -1, "must be at least -1")
    .createWithDefault(1)

  val CheckpointMode = SQLConf
    .buildConf("spark.deltaUpkeep.checkpoint.mode")
    .doc(
      "Who writes a checkpoint that a commit makes due. 'async': a background thread; 'sync': the committing " +
        "thread; 'delta': Delta, as without this extension."
    )
    .version("0.1.0")
    .stringConf
    .checkValues(Set("async", "sync", "delta"))
    .createWithDefault("async")

  val CheckpointCommitBytes = SQLConf
    .buildConf("spark.deltaUpkeep.checkpoint.commitBytes")
    .doc(
      "A checkpoint is due, before delta.checkpointInterval commits have come, once the commits since the last " +
        "one take this many bytes. 0 turns this off. The table property " +
        "deltaUpkeep.checkpoint.commitBytes takes precedence."
    )
    .version("0.1.0")
    .bytesConf(ByteUnit.BYTE)
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefaultString("64m")

  val CheckpointMaxAge = SQLConf
    .buildConf("spark.deltaUpkeep.checkpoint.maxAge")
    .doc(
      "A checkpoint is due once the last one is this old. 0 turns this off. The table " +
        "property deltaUpkeep.checkpoint.maxAge takes precedence."
    )
    .version("0.1.0")
    .timeConf(TimeUnit.MILLISECONDS)
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefaultString("0")

  val CheckpointGrace = SQLConf
    .buildConf("spark.deltaUpkeep.checkpoint.grace")
    .doc(
      "How long an application that ends waits for a checkpoint that is being written. A checkpoint that has " +
        "not been started is left to the next commit of any application."
    )
    .version("0.1.0")
    .timeConf(TimeUnit.MILLISECONDS)
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefaultString("10s")

  val DriverBytes = SQLConf
    .buildConf("spark.deltaUpkeep.driverBytes")
    .doc(
      "Up to this many bytes of a table's log are replayed on the driver; for more a Spark job runs. CHECKPOINT " +
        "and CLEANUP LOG count commits, OPTIMIZE and DESCRIBE HEALTH also the checkpoint before them. The driver " +
        "needs about twice as much memory."
    )
    .version("0.1.0")
    .bytesConf(ByteUnit.BYTE)
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefaultString("256m")

  val CleanupThreads = SQLConf
    .buildConf("spark.deltaUpkeep.cleanup.threads")
    .doc(
      "How many files CLEANUP LOG deletes at the same time. If the file system can delete many files in one " +
        "call, it makes an eighth as many calls."
    )
    .version("0.1.0")
    .intConf
    .checkValue(_ >= 1, "must be at least 1")
    .createWithDefault(32)

  val HealthListedFiles = SQLConf
    .buildConf("spark.deltaUpkeep.health.listedFiles")
    .doc(
      "Largest table, in files, that DESCRIBE HEALTH searches for orphaned files. 0 turns the search off."
    )
    .version("0.1.0")
    .intConf
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefault(100000)
}
