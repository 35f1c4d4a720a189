package io.deltaupkeep.plan.vacuum

import java.nio.charset.StandardCharsets
import java.util.Arrays

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.XXH64
import org.apache.spark.unsafe.Platform

/**
 * Names of files, each as a hash of 8 bytes. If two names have the same hash, a file is kept that could be deleted: once
 * in about 200,000 tables of ten million files.
 */
final class NameSet private (private val sorted: Array[Long]) {

  def isEmpty: Boolean = sorted.isEmpty

  def contains(name: String): Boolean = Arrays.binarySearch(sorted, NameSet.hash(name)) >= 0
}

object NameSet {

  val Empty: NameSet = of(Iterator.empty)

  def of(names: Iterator[String]): NameSet = ofHashes(names.map(hash).toArray)

  def ofHashes(hashes: Array[Long]): NameSet = {
    val sorted = hashes.clone
    Arrays.sort(sorted)
    new NameSet(sorted)
  }

  def union(sets: Seq[NameSet]): NameSet = ofHashes(sets.toArray.flatMap(_.sorted))

  def hash(name: String): Long = {
    val bytes = name.getBytes(StandardCharsets.UTF_8)
    XXH64.hashUnsafeBytes(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length, 42L)
  }

  /** Takes names from several threads. */
  final class Builder {
    private val hashes = new mutable.ArrayBuilder.ofLong

    def add(names: Iterable[String]): Unit = addHashes(names.map(hash))

    def addHashes(some: Iterable[Long]): Unit = synchronized { hashes ++= some; () }

    def result(): NameSet = synchronized(ofHashes(hashes.result()))
  }
}
