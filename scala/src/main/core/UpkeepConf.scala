package io.deltaupkeep

import java.util.concurrent.TimeUnit

import org.apache.spark.network.util.ByteUnit
import org.apache.spark.sql.internal.SQLConf

/** Session settings, `spark.deltaUpkeep.*`; each is declared here once. */
object UpkeepConf {

  val Enabled = SQLConf
    .buildConf("spark.deltaUpkeep.enabled")
    .doc(
      "If false, Delta and Spark behave in this session as without this extension, and statements that " +
        "only Delta Upkeep has are refused. The table property deltaUpkeep.enabled does the same for one table."
    )
    .version("0.1.0")
    .booleanConf
    .createWithDefault(true)

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
      "Bytes of input files and their footers that a task of OPTIMIZE holds at a time. A row group of a " +
        "new file takes at most this much memory, and a page at most half of it; larger ones are rewritten " +
        "row by row. A task needs about two and a half times this much memory."
    )
    .version("0.1.0")
    .bytesConf(ByteUnit.BYTE)
    .checkValue(_ >= 1024 * 1024, "must be at least 1m")
    .createWithDefaultString("128m")

  val OptimizeClusterBytes = SQLConf
    .buildConf("spark.deltaUpkeep.optimize.clusterBytes")
    .doc(
      "Bytes of files that a task of ZORDER BY, ORDER BY or clustering puts in order column by column. It needs about three " +
        "times this much memory. More files are put in order by several tasks, which take half of this each and " +
        "meet in Spark's shuffle. 0 stands for a fifth of an executor's heap, divided by its cores."
    )
    .version("0.1.0")
    .bytesConf(ByteUnit.BYTE)
    .checkValue(bytes => bytes == 0 || bytes >= 64 * 1024, "must be 0 or at least 64k")
    .createWithDefault(0)

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
      "Before each commit, OPTIMIZE and auto-compaction read inputs and outputs with Spark and compare " +
        "their rows. Bins that differ are not committed, and the error is REWRITE_MISMATCH."
    )
    .version("0.1.0")
    .booleanConf
    .createWithDefault(false)

  val OptimizeSpotCheck = SQLConf
    .buildConf("spark.deltaUpkeep.optimize.spotCheck")
    .doc(
      "How many input files of each new file are spot-checked, in addition to one of each kind. The task " +
        "that wrote the new file reads a few rows of both files with Spark and compares them. -1 turns " +
        "this off."
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
      "Bytes of commits that trigger a checkpoint before delta.checkpointInterval is reached. 0 turns this " +
        "off. The table property deltaUpkeep.checkpoint.commitBytes takes precedence."
    )
    .version("0.1.0")
    .bytesConf(ByteUnit.BYTE)
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefaultString("64m")

  val CheckpointMaxAge = SQLConf
    .buildConf("spark.deltaUpkeep.checkpoint.maxAge")
    .doc(
      "Age of the last checkpoint at which the next one is due. 0 turns this off. The table property " +
        "deltaUpkeep.checkpoint.maxAge takes precedence."
    )
    .version("0.1.0")
    .timeConf(TimeUnit.MILLISECONDS)
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefaultString("0")

  val CheckpointGrace = SQLConf
    .buildConf("spark.deltaUpkeep.checkpoint.grace")
    .doc(
      "How long shutdown waits for a checkpoint in progress. A checkpoint that has not started is left to " +
        "the next commit of any application."
    )
    .version("0.1.0")
    .timeConf(TimeUnit.MILLISECONDS)
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefaultString("10s")

  val DriverBytes = SQLConf
    .buildConf("spark.deltaUpkeep.driverBytes")
    .doc(
      "Bytes of a table's log that the driver replays by itself; if there are more, a Spark job replays " +
        "them. CHECKPOINT, CLEANUP LOG and the compaction of OPTIMIZE count the commits; OPTIMIZE that puts " +
        "rows in order, REORG and some checks of DESCRIBE HEALTH also count the checkpoint before them. The driver " +
        "needs about twice as much memory, and each of up to four threads that write a checkpoint another 100 MB. " +
        "A first CHECKPOINT holds no file actions, so it may replay four times as much."
    )
    .version("0.1.0")
    .bytesConf(ByteUnit.BYTE)
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefaultString("256m")

  val PlannedFiles = SQLConf
    .buildConf("spark.deltaUpkeep.optimize.plannedFiles")
    .doc(
      "How many files OPTIMIZE plans at once if it keeps the order of rows. If more may be rewritten, it plans those of " +
        "some partitions, or a part of a large one, commits, and goes on with the others. A file takes up to 1.3 KB of the " +
        "driver's memory. 0 stands for one file for each 4 KB of the driver's heap."
    )
    .version("0.1.0")
    .longConf
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefault(0)

  val CleanupThreads = SQLConf
    .buildConf("spark.deltaUpkeep.cleanup.threads")
    .doc(
      "How many files CLEANUP LOG deletes at the same time. If the file system can delete many files in " +
        "one call, bulk deletion uses one eighth as many parallel calls."
    )
    .version("0.1.0")
    .intConf
    .checkValue(_ >= 1, "must be at least 1")
    .createWithDefault(32)

  val HealthListedFiles = SQLConf
    .buildConf("spark.deltaUpkeep.health.listedFiles")
    .doc(
      "DESCRIBE HEALTH does not search tables with more files than this for orphaned files. 0 turns the " +
        "search off."
    )
    .version("0.1.0")
    .intConf
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefault(100000)
}
