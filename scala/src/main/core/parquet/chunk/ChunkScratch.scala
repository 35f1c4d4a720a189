package io.deltaupkeep.parquet.chunk

import io.deltaupkeep.ByteText
import io.deltaupkeep.parquet.bytes.{ByteSink, TooLarge}
import io.deltaupkeep.parquet.encoding.{EntrySet, IdBuffer, LevelBuffer, PageCodec, ValueDictionary, Values}

/**
 * Buffers in which chunks are read and built, one after the other. Not thread-safe.
 *
 * @param pageBytes largest memory of a page, in bytes
 */
private[parquet] final class ChunkScratch(val codec: PageCodec, pageBytes: Long = Long.MaxValue) {
  import ChunkScratch._

  /** The content of an input's page. */
  val repetition = new LevelBuffer
  val definition = new LevelBuffer
  val values = new Values
  val plain = new ByteSink()
  var ids: Array[Int] = Array.emptyIntArray
  private var pageArray = Array.emptyByteArray

  /** The dictionary of an input's chunk. */
  val dictionary = new Values
  private var dictionaryArray = Array.emptyByteArray
  private var share: ScratchShare = ScratchShare.Unlimited
  private var largestPage = 0L

  /** Memory of the largest page so far, and of the dictionary. */
  def heldBytes: Long = largestPage + dictionaryArray.length

  /** Begins a chunk. Existing buffers count towards the share. */
  def begin(share: ScratchShare): Unit = {
    this.share = share
    share.growTo(heldBytes)
  }

  val cut = new CutScratch

  val output = new OutputScratch

  /** Checks that a page of `bytes`, with its levels, stays below the memory limit. May wait for the memory. */
  def requireRoom(bytes: Long, levels: Int): Unit = {
    val taken = bytes + BytesPerLevel * levels
    if (taken > pageBytes) throw new TooLarge(s"a page takes ${ByteText.of(taken)} of memory", pageBytes)
    if (taken > largestPage) {
      largestPage = taken
      share.growTo(heldBytes)
    }
  }

  def idsFor(count: Int): Array[Int] = {
    if (ids.length < count) ids = new Array[Int](count + count / 2)
    ids
  }

  /** A buffer for a page of this size plus one word, because packed values are read in whole words. */
  def page(size: Int): Array[Byte] = {
    if (pageArray.length < size + 8L) pageArray = new Array[Byte](roomFor(size + 8L))
    pageArray
  }

  def dictionaryPage(size: Int): Array[Byte] = {
    if (dictionaryArray.length < size) {
      share.growTo(largestPage + roomFor(size.toLong))
      dictionaryArray = new Array[Byte](roomFor(size.toLong))
    }
    dictionaryArray
  }
}

private object ChunkScratch {

  /** Two levels, and the id or the position of a value. */
  private val BytesPerLevel = 12L

  /** Half as much again, so that slowly growing pages do not each allocate an array. */
  private def roomFor(size: Long): Int = math.min(size + size / 2, Int.MaxValue - 16L).toInt
}

/** The page under construction, and the dictionary of its chunk. */
private[parquet] final class OutputScratch {
  val dictionary = new ValueDictionary
  val repetition = new LevelBuffer
  val definition = new LevelBuffer
  val ids = new IdBuffer
  val plain = new ByteSink(1 << 16)
  val body = new ByteSink(1 << 16)

  /** The entries of the dictionary that the page refers to. */
  val referredTo = new EntrySet

  def clear(): Unit = {
    repetition.clear()
    definition.clear()
    ids.clear()
    plain.clear()
    body.clear()
  }
}
