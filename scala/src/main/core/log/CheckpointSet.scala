package io.deltaupkeep.log

/** The files that together make one checkpoint. */
final case class CheckpointSet(version: Long, files: Seq[LogFile], isComplete: Boolean)

/** A checkpoint that readers would use: its top-level files, and the sidecars that they name. */
final case class FoundCheckpoint(version: Long, topLevel: Seq[LogFile], sidecars: Seq[LogFile])

object CheckpointSet {

  /**
   * All checkpoints of a log. A checkpoint is complete if a reader can use it: it is readable, and no part or
   * sidecar is missing or empty.
   */
  def allOf(files: Seq[LogFile], references: Map[String, SidecarReferences]): Seq[CheckpointSet] = {
    val sidecars =
      files.filter(file => file.kind == LogFileKind.Sidecar && file.sizeInBytes > 0).map(_.name).toSet
    def hasItsSidecars(file: LogFile): Boolean = references.get(file.name) match {
      case None => true
      case Some(SidecarReferences.Named(names)) => names.subsetOf(sidecars)
      case Some(SidecarReferences.Unreadable(_)) => false
    }
    val single = files.map(file => file -> file.kind).collect {
      case (file, LogFileKind.ClassicCheckpoint(version)) => file -> version
      case (file, LogFileKind.V2Checkpoint(version, _, _)) => file -> version
    }
    single.map { case (file, version) =>
      CheckpointSet(version, Seq(file), file.sizeInBytes > 0 && hasItsSidecars(file))
    } ++ multiPart(files, hasItsSidecars)
  }

  private def multiPart(files: Seq[LogFile], isReadable: LogFile => Boolean): Seq[CheckpointSet] =
    files
      .map(file => file -> file.kind)
      .collect { case (file, LogFileKind.CheckpointPart(version, part, parts)) =>
        (version, parts) -> (part, file)
      }
      .groupMap { case (set, _) => set } { case (_, part) => part }
      .map { case ((version, parts), found) =>
        val whole =
          found.collect { case (part, file) if file.sizeInBytes > 0 && isReadable(file) => part }.toSet
        CheckpointSet(version, found.map { case (_, file) => file }, whole.size == parts)
      }
      .toSeq
}
