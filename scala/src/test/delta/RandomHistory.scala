package org.apache.spark.sql.delta.upkeep

import scala.util.Random

import org.apache.spark.sql.delta.{DeltaLog, DeltaOperations, Snapshot}
import org.apache.spark.sql.delta.actions.{Action, AddFile, DeletionVectorDescriptor}

/** A table that changes at random, in an order and by values that the seed says. */
private[upkeep] abstract class History(name: String, seed: Long, properties: Seq[(String, String)]) {
  import TestSession._

  protected val random = new Random(seed)

  val path: String = newTable(s"$name$seed", 0, properties :+ ("delta.enableDeletionVectors" -> "true"): _*)

  /** Versions at which a checkpoint may be due. */
  def stages: Seq[Long]

  protected def version: Long = DeltaLog.forTable(spark, path).update().version

  protected def commit(actions: Snapshot => Seq[Action]): Unit = {
    val transaction = DeltaLog.forTable(spark, path).startTransaction(catalogTableOpt = None)
    transaction.commit(actions(transaction.snapshot), DeltaOperations.ManualUpdate)
  }
}

/**
 * Each kind of change happens once, and the schema changes in the second of three stages, where a RESTORE may change it
 * back.
 */
private[upkeep] final class RandomHistory(seed: Long, properties: Seq[(String, String)])
    extends History("history", seed, properties) {
  import TestSession._
  import spark.implicits._

  private val table = s"delta.`$path`"
  private var removed = Option.empty[AddFile]

  private def id: Int = random.nextInt(30)

  private val changes: Seq[() => Unit] = Seq(
    () => append(id),
    () => appendOnce(),
    () => spark.sql(s"DELETE FROM $table WHERE id % 9 = ${id % 9}"),
    () => merge(),
    () => spark.sql(s"OPTIMIZE $table OPTIONS (minInputFiles = 2)"),
    () => spark.sql(s"RESTORE TABLE $table TO VERSION AS OF ${version - 1}"),
    () => addAgain(),
    () => remove(),
    () => addBack()
  )

  override val stages: Seq[Long] = {
    spark.range(24).selectExpr("id", "cast(id % 2 as int) as p").repartition(6)
      .write.format("delta").mode("append").save(path)
    val first = version
    first +: random.shuffle(changes).grouped(changes.size / 3).toSeq.zipWithIndex.map { case (stage, i) =>
      val (before, after) = stage.splitAt(stage.size / 2)
      before.foreach(_())
      if (i == 1) spark.sql(s"ALTER TABLE $table ADD COLUMN extra STRING")
      after.foreach(_())
      version
    }
  }

  /** Whether the second stage has another schema than the first. */
  def changesSchema: Boolean = {
    val schemas = stages.slice(1, 3).map { version =>
      spark.read.format("delta").option("versionAsOf", version.toString).load(path).schema
    }
    schemas.distinct.size > 1
  }

  private def append(id: Int): Unit = spark.sql(s"INSERT INTO $table (id, p) VALUES ($id, ${id % 2})")

  private def appendOnce(): Unit =
    Seq((id.toLong, id % 2)).toDF("id", "p").write.format("delta").mode("append")
      .option("txnAppId", s"app${id % 3}").option("txnVersion", version).save(path)

  private def merge(): Unit = spark.sql(
    s"""MERGE INTO $table AS t USING (SELECT explode(sequence($id, 60, 3)) AS id) AS s ON t.id = s.id
       |WHEN MATCHED AND t.id % 2 = 0 THEN DELETE
       |WHEN MATCHED THEN UPDATE SET t.id = t.id + 100
       |WHEN NOT MATCHED THEN INSERT (id, p) VALUES (s.id, 1)""".stripMargin
  )

  /** Files that are there already, with nothing removed: so statistics are recomputed. */
  private def addAgain(): Unit = commit {
    _.allFiles.collect().toSeq.filter(_ => random.nextBoolean()).map { add =>
      add.copy(dataChange = false, tags = Map("again" -> s"${random.nextInt()}"))
    }
  }

  private def remove(): Unit = commit { snapshot =>
    removed = snapshot.allFiles.collect().sortBy(_.stats).headOption
    removed.toSeq.map(_.remove)
  }

  /** The same file with the same deletion vector. */
  private def addBack(): Unit = {
    if (removed.isEmpty) remove()
    commit(_ => removed.toSeq)
  }
}

/**
 * Commits of file actions alone, each of which names few: a checkpoint can stay but for what the last stage
 * touches. The data files are not there.
 */
private[upkeep] final class FileHistory(seed: Long, properties: Seq[(String, String)])
    extends History("files", seed, properties) {

  private var count = 0
  private var active = Seq.empty[AddFile]
  private var removed = Seq.empty[AddFile]

  override val stages: Seq[Long] = {
    commit(_ => newFiles(40))
    val old = active.toSet
    val first = version
    commit(_ => newFiles(2))
    first +: (1 to 3).map { stage =>
      commit(_ =>
        change(if (stage == 3) active else active.filterNot(old)) ++ newFiles(1 + random.nextInt(4))
      )
      version
    }
  }

  private def newFiles(n: Int): Seq[AddFile] = Seq.fill(n) {
    count += 1
    val stats =
      s"""{"numRecords":9,"minValues":{"id":$count},"maxValues":{"id":$count},"nullCount":{"id":0}}"""
    val file = AddFile(s"p=0/$count.parquet", Map("p" -> "0"), count.toLong, count.toLong, true, stats)
    active :+= file
    file
  }

  private def change(of: Seq[AddFile]): Seq[Action] = {
    val file = of(random.nextInt(of.size))
    random.nextInt(3) match {
      case 0 =>
        active = active.filterNot(_ == file)
        removed :+= file
        Seq(file.remove)
      case 1 if removed.nonEmpty =>
        val again = removed.head
        removed = removed.tail
        active :+= again
        Seq(again)
      case _ =>
        val bytes = Array(random.nextInt().toByte)
        val without = file.copy(deletionVector = DeletionVectorDescriptor.inlineInLog(bytes, cardinality = 1))
        active = active.filterNot(_ == file) :+ without
        Seq(file.remove, without)
    }
  }
}
