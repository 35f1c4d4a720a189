package io.deltaupkeep

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
      "Bytes of input files that a task of OPTIMIZE holds at a time. A row group of the output takes at most half " +
        "of it, so the memory of a task is about twice this number."
    )
    .version("0.1.0")
    .bytesConf(ByteUnit.BYTE)
    .checkValue(_ >= 1024 * 1024, "must be at least 1m")
    .createWithDefaultString("128m")

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

  val OptimizeFetches = SQLConf
    .buildConf("spark.deltaUpkeep.optimize.fetches")
    .doc("Input files that a task of OPTIMIZE fetches at the same time.")
    .version("0.1.0")
    .intConf
    .checkValue(_ >= 1, "must be at least 1")
    .createWithDefault(4)
}
