package org.apache.spark.sql.delta.upkeep.versions

import java.lang.reflect.Constructor

import org.apache.spark.sql.delta.actions.{Action, AddFile, DeletionVectorDescriptor}

/**
 * Makes files of the log. Versions of Delta add fields to [[AddFile]], which changes its constructor, so code that was
 * compiled with one version cannot call another's. The first eleven fields have been the same since 3.2.
 */
private[upkeep] object NewFile {

  private val constructor: Constructor[_] = classOf[AddFile].getConstructors.maxBy(_.getParameterCount)

  private lazy val empty =
    Action
      .fromJson(
        """{"add":{"path":"new","partitionValues":{},"size":0,"modificationTime":0,"dataChange":false}}"""
      )
      .asInstanceOf[AddFile]

  /** A file without statistics, which adds no data. */
  def apply(
      path: String,
      partitionValues: Map[String, String],
      size: Long,
      modificationTime: Long,
      tags: Map[String, String]
  ): AddFile =
    withFields(empty)(0 -> path, 1 -> partitionValues, 2 -> size, 3 -> modificationTime, 6 -> tags)

  /** The file with other values. All other fields stay as they are. */
  def changed(add: AddFile)(
      path: String = add.path,
      partitionValues: Map[String, String] = add.partitionValues,
      dataChange: Boolean = add.dataChange,
      stats: String = add.stats,
      baseRowId: Option[Long] = add.baseRowId,
      rowCommitVersion: Option[Long] = add.defaultRowCommitVersion,
      tags: Map[String, String] = add.tags,
      clusteringProvider: Option[String] = add.clusteringProvider,
      deletionVector: DeletionVectorDescriptor = add.deletionVector
  ): AddFile =
    withFields(add)(
      0 -> path,
      1 -> partitionValues,
      4 -> dataChange,
      5 -> stats,
      6 -> tags,
      7 -> deletionVector,
      8 -> baseRowId,
      9 -> rowCommitVersion,
      10 -> clusteringProvider
    )

  private def withFields(add: AddFile)(changes: (Int, Any)*): AddFile = {
    val fields = add.productIterator.toArray
    changes.foreach { case (position, value) => fields(position) = value }
    constructor.newInstance(fields.map(_.asInstanceOf[AnyRef]): _*).asInstanceOf[AddFile]
  }
}
