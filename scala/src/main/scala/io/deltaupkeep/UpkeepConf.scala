package io.deltaupkeep

import java.util.concurrent.TimeUnit

import org.apache.spark.network.util.ByteUnit
import org.apache.spark.sql.internal.SQLConf

/** Session settings, `spark.deltaUpkeep.*`; each is declared here once. */
object UpkeepConf {

  val OptimizeEngine = SQLConf
    .buildConf("spark.deltaUpkeep.optimize.engine")
    .doc(
      "How OPTIMIZE writes new files: 'auto' merges Parquet files without decoding rows wherever that is exact, " +
        "'rows' reads and writes rows as Delta does."
    )
    .version("0.1.0")
    .stringConf
    .checkValues(Set("auto", "rows"))
    .createWithDefault("auto")

  val OptimizeBytesInFlight = SQLConf
    .buildConf("spark.deltaUpkeep.optimize.bytesInFlight")
    .doc(
      "Bytes of input files that a task of OPTIMIZE holds at a time. A row group that it makes takes as much at most, " +
        "a page half of it; what takes more is rewritten row by row. So the memory of a task is about twice this " +
        "number."
    )
    .version("0.1.0")
    .bytesConf(ByteUnit.BYTE)
    .checkValue(_ >= 1024 * 1024, "must be at least 1m")
    .createWithDefaultString("128m")

  val OptimizeFetches = SQLConf
    .buildConf("spark.deltaUpkeep.optimize.fetches")
    .doc("Input files that a task of OPTIMIZE fetches at the same time.")
    .version("0.1.0")
    .intConf
    .checkValue(_ >= 1, "must be at least 1")
    .createWithDefault(4)

  val OptimizeVerify = SQLConf
    .buildConf("spark.deltaUpkeep.optimize.verify")
    .doc(
      "Whether OPTIMIZE and auto-compaction have Spark read the inputs and the new files and compare their rows " +
        "before each commit. A difference is the error REWRITE_MISMATCH, and nothing is committed."
    )
    .version("0.1.0")
    .booleanConf
    .createWithDefault(false)

  val CheckpointMode = SQLConf
    .buildConf("spark.deltaUpkeep.checkpoint.mode")
    .doc(
      "Who writes the checkpoint that a commit makes due: 'async' a thread of ours, while the commit returns; " +
        "'sync' we, before the commit returns; 'delta' Delta, as without us."
    )
    .version("0.1.0")
    .stringConf
    .checkValues(Set("async", "sync", "delta"))
    .createWithDefault("async")

  val CheckpointCommitBytes = SQLConf
    .buildConf("spark.deltaUpkeep.checkpoint.commitBytes")
    .doc(
      "Bytes of commits since the last checkpoint that make one due before delta.checkpointInterval does; 0 for " +
        "never. The table property deltaUpkeep.checkpoint.commitBytes comes first."
    )
    .version("0.1.0")
    .bytesConf(ByteUnit.BYTE)
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefaultString("64m")

  val CheckpointMaxAge = SQLConf
    .buildConf("spark.deltaUpkeep.checkpoint.maxAge")
    .doc(
      "Age of the last checkpoint at which a commit makes another one due; 0 for never. The table property " +
        "deltaUpkeep.checkpoint.maxAge comes first."
    )
    .version("0.1.0")
    .timeConf(TimeUnit.MILLISECONDS)
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefaultString("0")

  val CheckpointGrace = SQLConf
    .buildConf("spark.deltaUpkeep.checkpoint.grace")
    .doc(
      "How long the end of an application waits for a checkpoint that is being written; one that has not begun is " +
        "left to the next commit, of any application."
    )
    .version("0.1.0")
    .timeConf(TimeUnit.MILLISECONDS)
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefaultString("10s")

  val CheckpointDriverBytes = SQLConf
    .buildConf("spark.deltaUpkeep.checkpoint.driverBytes")
    .doc(
      "Bytes of commits that CHECKPOINT replays on the driver, which takes a few times as much memory where they " +
        "change an existing checkpoint, and about a third where there is none. Of more it makes a Spark job."
    )
    .version("0.1.0")
    .bytesConf(ByteUnit.BYTE)
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefaultString("128m")

  val CleanupThreads = SQLConf
    .buildConf("spark.deltaUpkeep.cleanup.threads")
    .doc(
      "Files that CLEANUP LOG deletes at the same time; where the file system deletes many in a call, an eighth " +
        "as many calls."
    )
    .version("0.1.0")
    .intConf
    .checkValue(_ >= 1, "must be at least 1")
    .createWithDefault(32)

  val HealthListedFiles = SQLConf
    .buildConf("spark.deltaUpkeep.health.listedFiles")
    .doc(
      "Files up to which DESCRIBE HEALTH lists a table's directory, to find those that the table does not name; 0 " +
        "for never."
    )
    .version("0.1.0")
    .intConf
    .checkValue(_ >= 0, "must not be negative")
    .createWithDefault(100000)
}
