package io.deltaupkeep.parquet.bytes

import io.deltaupkeep.ByteText

/** Why a file cannot be spliced. A reader of rows may still read it. */
private[parquet] sealed abstract class NotSpliceable(message: String) extends RuntimeException(message) {

  /** The same, naming the file. */
  def reason(file: String): String
}

/** A page, or metadata, that violates the format. */
private[parquet] final class MalformedPage(what: String)
    extends NotSpliceable(s"It is not valid Parquet: $what") {
  override def reason(file: String): String = s"$file is malformed: $what"
}

/** A page marked as uncompressed, by a writer that marks all its pages so. */
private[parquet] final class HiddenCompression(codec: String)
    extends NotSpliceable("a page may be compressed although its header says otherwise (ARROW-10353)") {
  override def reason(file: String): String = s"$getMessage: it is in $file, whose codec is $codec"
}

/** Compressed data of a codec that is not installed. */
private[parquet] final class MissingCodec(codec: String)
    extends NotSpliceable(s"the codec $codec is missing") {
  override def reason(file: String): String = s"$getMessage, which $file needs"
}

/** A value that the type of the new file's column cannot hold. */
private[parquet] final class NotHeld(what: String) extends NotSpliceable(what) {
  override def reason(file: String): String = s"$what, in $file"
}

/** A page or row group that takes more memory than is allowed. */
private[parquet] final class TooLarge(what: String, allowed: Long)
    extends NotSpliceable(s"$what, and ${ByteText.of(allowed)} are allowed") {
  override def reason(file: String): String = s"$getMessage, in $file"
}
