package io.deltaupkeep.plan.vacuum

import java.nio.charset.StandardCharsets
import java.util.Arrays

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.XXH64
import org.apache.spark.unsafe.Platform

/**
 * Names of files, each as a hash of 63 bits. If two names have the same hash, a file is kept that could be deleted: once
 * in about 100,000 tables of ten million files.
 */
final class NameSet private (private val sorted: Array[Long]) {

  def isEmpty: Boolean = sorted.isEmpty

  /** A name may have been added more than once. */
  def size: Long = sorted.length.toLong

  def contains(name: String): Boolean = has(NameSet.hash(name))

  def isSubsetOf(other: NameSet): Boolean = sorted.forall(other.has)

  private def has(hash: Long): Boolean = Arrays.binarySearch(sorted, hash) >= 0
}

object NameSet {

  val Empty: NameSet = of(Iterator.empty)

  def of(names: Iterator[String]): NameSet = ofHashes(names.map(hash(_)).toArray)

  /** @param hashes marked or not */
  def ofHashes(hashes: Array[Long]): NameSet = {
    val sorted = hashes.map(_ & ~Mark)
    Arrays.sort(sorted)
    new NameSet(sorted)
  }

  def union(sets: Seq[NameSet]): NameSet = ofHashes(sets.toArray.flatMap(_.sorted))

  /** Of a name; an odd number if it is marked. */
  def hash(name: String, isMarked: Boolean = false): Long = {
    val bytes = name.getBytes(StandardCharsets.UTF_8)
    val hash = XXH64.hashUnsafeBytes(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length, 42L)
    if (isMarked) hash | Mark else hash & ~Mark
  }

  def isMarked(hash: Long): Boolean = (hash & Mark) != 0

  private val Mark = 1L

  /** Takes names from several threads. */
  final class Builder {
    private val hashes = new mutable.ArrayBuilder.ofLong

    def add(names: Iterable[String]): Unit = addHashes(names.map(hash(_)))

    def addHashes(some: Iterable[Long]): Unit = synchronized { hashes ++= some; () }

    def result(): NameSet = synchronized(ofHashes(hashes.result()))
  }
}
