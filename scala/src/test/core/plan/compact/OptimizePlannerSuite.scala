package io.deltaupkeep.plan.compact

import io.deltaupkeep.{Options, UpkeepException}
import io.deltaupkeep.parquet.encoding.Compression

import org.apache.parquet.hadoop.metadata.CompressionCodecName
import org.apache.parquet.hadoop.metadata.CompressionCodecName._

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.prop.TableDrivenPropertyChecks

class OptimizePlannerSuite extends AnyFunSuite with TableDrivenPropertyChecks {

  private val settings = OptimizeSettings(targetFileSize = 100, minFileSize = 100, maxDeletedRowsRatio = 0.05)

  private def file(
      path: String,
      size: Long,
      partition: String = "",
      time: Long = 0,
      rows: Long = 100,
      deleted: Long = 0,
      optimizedFor: Option[Long] = None
  ): DataFile =
    DataFile(
      path,
      Option.when(deleted > 0)("dv"),
      size,
      time,
      Partition(Seq(Some(partition)))(partition),
      Some(rows),
      deleted,
      optimizedFor
    )

  private def binsOf(files: DataFile*): Set[Set[String]] =
    OptimizePlanner.compact(files, settings).bins.map(_.files.map(_.path).toSet).toSet

  test("which files are rewritten, and together with which") {
    val cases = Table(
      ("what", "files", "bins"),
      ("no files", Seq.empty, Set.empty[Set[String]]),
      ("one small file", Seq(file("a", 10)), Set.empty[Set[String]]),
      ("two small files", Seq(file("a", 10), file("b", 10)), Set(Set("a", "b"))),
      ("a file of the minimum size stays", Seq(file("a", 100), file("b", 10)), Set.empty[Set[String]]),
      (
        "files that do not fit together stay",
        Seq(file("a", 60), file("b", 60)),
        Set.empty[Set[String]]
      ),
      (
        "partitions are never mixed",
        Seq(file("a", 10, "p=1"), file("b", 10, "p=2"), file("c", 10, "p=1")),
        Set(Set("a", "c"))
      ),
      (
        "the first bin with room takes a file",
        Seq(file("a", 60), file("b", 50), file("c", 40), file("d", 30), file("e", 20)),
        Set(Set("a", "c"), Set("b", "d", "e"))
      ),
      (
        "a lone file heavy with deleted rows",
        Seq(file("a", 500, deleted = 6)),
        Set(Set("a"))
      ),
      (
        "a lone file with few deleted rows",
        Seq(file("a", 500, deleted = 5)),
        Set.empty[Set[String]]
      ),
      (
        "files of an earlier run with this target stay among themselves",
        Seq(file("a", 10, optimizedFor = Some(100)), file("b", 10, optimizedFor = Some(100))),
        Set.empty[Set[String]]
      ),
      (
        "a new file joins files of an earlier run",
        Seq(file("a", 10, optimizedFor = Some(100)), file("b", 10)),
        Set(Set("a", "b"))
      ),
      (
        "files of a run with another target are packed again",
        Seq(file("a", 10, optimizedFor = Some(50)), file("b", 10, optimizedFor = Some(50))),
        Set(Set("a", "b"))
      )
    )
    forAll(cases)((_, files, bins) => assert(binsOf(files: _*) == bins))
  }

  test("a deletion vector of unknown weight is heavy") {
    val unknown = file("a", 500, deleted = 1).copy(physicalRows = None)
    assert(binsOf(unknown) == Set(Set("a")))
  }

  test("files of a bin keep the order in which they were written") {
    val plan = OptimizePlanner.compact(
      Seq(file("a", 30, time = 3), file("b", 20, time = 1), file("c", 10, time = 2)),
      settings
    )
    assert(plan.bins.map(_.files.map(_.path)) == Seq(Seq("b", "c", "a")))
  }

  test("the largest bin comes first") {
    val plan = OptimizePlanner.compact(
      Seq(file("a", 10, "p=1"), file("b", 10, "p=1"), file("c", 40, "p=2"), file("d", 40, "p=2")),
      settings
    )
    assert(plan.bins.map(_.partition.text) == Seq("p=2", "p=1"))
  }

  test("the tier says why") {
    val plain = OptimizePlanner.compact(Seq(file("a", 10), file("b", 10)), settings)
    assert(plain.bins.map(_.tier) == Seq(Tier.Splice("small row groups are merged")))
    val soItIs = Tier.Rows("so it is", RowsCause.Table)
    val rows = OptimizePlanner.compact(Seq(file("a", 10), file("b", 10)), settings, Some(soItIs))
    assert(rows.bins.map(_.tier) == Seq(soItIs))
  }

  test("a purge takes the chosen files, however large, and of a clustered table each by itself") {
    val files = Seq(file("a", 500), file("b", 10), file("c", 20, deleted = 1), file("d", 10, "p=1"))
    val chosen = files.filterNot(_.path == "b").map(_.id).toSet
    def bins(oneByOne: Boolean) =
      OptimizePlanner.purge(files, chosen, settings, Layout.Purge(oneByOne)).bins.map(
        _.files.map(_.path).toSet
      )
    assert(bins(oneByOne = false).toSet == Set(Set("a"), Set("c"), Set("d")))
    assert(bins(oneByOne = true).toSet == Set(Set("a"), Set("c"), Set("d")))
    val small = Seq(file("e", 10), file("f", 10))
    def packed(oneByOne: Boolean) =
      OptimizePlanner.purge(small, small.map(_.id).toSet, settings, Layout.Purge(oneByOne)).bins.map(
        _.files.size
      )
    assert(packed(oneByOne = false) == Seq(2) && packed(oneByOne = true) == Seq(1, 1))
  }

  test("files in Z-order stay, unless they are crumbs, and heavy ones keep their place") {
    def inOrder(file: DataFile) = file.copy(cube = Some("1"))
    val (a, b) = (inOrder(file("a", 20)), inOrder(file("b", 20)))
    val heavy = inOrder(file("heavy", 20, deleted = 50))
    val crumbs = Seq(inOrder(file("crumb", 11)), file("c", 10))
    val plan = OptimizePlanner.compact(Seq(a, b, heavy) ++ crumbs, settings)
    assert(plan.bins.map(bin => bin.files.map(_.path).toSet -> bin.tags).toSet == Set(
      Set("crumb", "c") -> NewFileTags.TargetSize,
      Set("heavy") -> NewFileTags.OfInput
    ))
    // Of a large Z-cube even crumbs stay: several tasks may have made many small files.
    val many = (1 to 10).map(i => inOrder(file(s"part$i", 11)))
    assert(OptimizePlanner.compact(many, settings).bins.isEmpty)
    val all = Seq(a, b) ++ crumbs
    val purge = OptimizePlanner.purge(all, all.map(_.id).toSet, settings, Layout.Purge(oneByOne = false))
    assert(purge.bins.map(_.files.size) == Seq(1, 1, 1, 1))
  }

  private val byX = Layout.ZOrder(Seq("x"), full = true)

  private def zOrder(
      files: Seq[DataFile],
      settings: OptimizeSettings,
      needsRows: Option[Tier.Rows] = None
  ): OptimizePlan = {
    val groups = files.groupBy(_.partition).values.map(ClusterGroup.all(_, settings)).toSeq
    OptimizePlanner.ordered(files, groups, _ => true, settings, byX, needsRows)
  }

  test("a bin that is put in order has as many new files as their size gives, largest first") {
    val files = Seq(file("a", 500, "p=1"), file("b", 10, "p=1"), file("c", 10, "p=2"))
    val plan = zOrder(files, settings)
    assert(plan.bins.map(bin => bin.partition.text -> bin.files.size) == Seq("p=1" -> 2, "p=2" -> 1))
    assert(plan.bins.map(plan.outputsOf) == Seq(5, 1))
    val small = ClusterGroup(Seq(files.head), "why", 50)
    assert(
      plan.outputsOf(OptimizePlanner.ordered(files, Seq(small), _ => true, settings, byX).bins.head) == 10
    )
  }

  test("a bin up to a size is put in order by one task, a larger one by several, and the reason says so") {
    val some = settings.copy(clusterBytes = 510)
    val geometry = Tier.Rows("a column has type geometry", RowsCause.Table)
    def tierOf(bytes: Long, needsRows: Option[Tier.Rows] = None): Tier = {
      val files = Seq(file("a", 500), file("b", bytes - 500))
      zOrder(files, some, needsRows).bins.head.tier
    }
    assert(
      tierOf(510) == Tier.Gather("all files are put in order again", "rows are put in order column by column")
    )
    assert(tierOf(510, Some(geometry)) == geometry)
    assert(
      tierOf(511) == Tier.Gather(
        "all files are put in order again",
        "rows are put in order column by column, by several tasks: 511 B are more than the 510 B that one takes"
      )
    )
    val large = zOrder(Seq(file("a", 600)), some.copy(targetFileSize = 1000))
    assert(large.bins.map(bin => bin.fileBytes -> large.outputsOf(bin)) == Seq(Some(255L) -> 2L))
  }

  test("a giant is not rewritten to absorb a crumb") {
    val large = OptimizeSettings(targetFileSize = 1 << 30, minFileSize = 1 << 30, maxDeletedRowsRatio = 0.05)
    val cases = Table(
      ("sizes", "rewritten"),
      (Seq(900000000L, 1000L), Set.empty[Long]),
      (Seq(900000000L, 1000L, 2000L), Set(1000L, 2000L)),
      (Seq(800L, 100L), Set(800L, 100L)),
      (Seq(801L, 100L), Set.empty[Long]),
      (Seq(900L, 100L, 12L), Set.empty[Long]),
      (Seq(8L, 7L, 6L), Set(8L, 7L, 6L))
    )
    forAll(cases) { (sizes, rewritten) =>
      val files = sizes.map(size => file(s"f$size", size))
      assert(OptimizePlanner.compact(files, large).files.map(_.sizeInBytes).toSet == rewritten)
    }
  }

  test("a giant heavy with deleted rows takes the crumb along") {
    assert(binsOf(file("a", 90, deleted = 50), file("b", 1)) == Set(Set("a", "b")))
  }

  test("a giant is not rewritten to rid a crumb of its deleted rows") {
    assert(binsOf(file("a", 90), file("b", 1, deleted = 50)) == Set(Set("b")))
  }

  test("crumbs that first fit puts beside giants are merged with each other") {
    val giants = (1 to 100).map(i => file(s"giant$i", 92))
    val crumbs = (1 to 100).map(i => file(s"crumb$i", 6))
    val plan = OptimizePlanner.compact(giants ++ crumbs, settings)
    assert(plan.files.toSet == crumbs.toSet)
    assert(plan.bins.map(_.files.size) == Seq(16, 16, 16, 16, 16, 16, 4))
  }

  test("crumbs beside giants join a file that they are not small beside") {
    val files = Seq(file("a", 92), file("b", 50), file("c", 6), file("d", 7, optimizedFor = Some(100)))
    assert(binsOf(files: _*) == Set(Set("b", "c", "d")))
  }

  test("few small files wait, unless they fill a file or are heavy with deleted rows") {
    def planned(files: DataFile*) =
      OptimizePlanner.compact(files, settings.copy(minInputFiles = 3)).files.size
    assert(planned(file("a", 10), file("b", 10)) == 0)
    assert(planned(file("a", 10), file("b", 10), file("c", 10)) == 3)
    assert(planned(file("a", 50), file("b", 50)) == 2)
    assert(planned(file("a", 44), file("b", 44)) == 2)
    assert(planned(file("a", 44), file("b", 43)) == 0)
    assert(planned(file("a", 10), file("b", 10, deleted = 50)) == 2)
  }

  private val threeBins = Seq("p=1" -> 2, "p=2" -> 3, "p=3" -> 4).flatMap { case (partition, count) =>
    (1 to count).map(i => file(s"$partition/$i", 20 / count, partition, time = count.toLong))
  }

  test("a bounded run takes bins in the order asked for") {
    val cases = Table[BinOrder, Seq[String]](
      ("order", "taken with five files at most"),
      (BinOrder.Gain, Seq("p=3")),
      (BinOrder.Largest, Seq("p=1", "p=2")),
      (BinOrder.Smallest, Seq("p=1", "p=2")),
      (BinOrder.Oldest, Seq("p=1", "p=2")),
      (BinOrder.Newest, Seq("p=3"))
    )
    forAll(cases) { (order, partitions) =>
      val plan = OptimizePlanner.compact(threeBins, settings.copy(maxFiles = Some(5), order = order))
      assert(plan.bins.map(_.partition.text).sorted == partitions)
      assert((plan.files ++ plan.deferred.flatMap(_.files)).toSet == threeBins.toSet)
    }
  }

  private def bounded(maxFiles: Long, maxBytes: Long = Long.MaxValue, order: BinOrder = BinOrder.Gain) =
    settings.copy(maxFiles = Some(maxFiles), maxBytes = Some(maxBytes), order = order)

  test("gain counts the files that are gone, and deletion vectors as files") {
    def first(files: DataFile*) =
      OptimizePlanner.compact(files, bounded(maxFiles = 3)).bins.map(_.partition.text)
    val three = Seq(file("a", 5, "p=1"), file("b", 5, "p=1"), file("c", 6, "p=1"))
    assert(first(three ++ Seq(file("d", 5, "p=2"), file("e", 5, "p=2")): _*) == Seq("p=1"))
    assert(first(three :+ file("d", 5, "p=2", deleted = 50): _*) == Seq("p=2"))
  }

  test("what a run does of a bin that is beyond its bounds") {
    val giantFirst = file("giant", 40, time = 0) +: (1 to 5).map(i => file(s"f$i", 5, time = i.toLong))
    val heavy = Seq(file("heavy", 60, deleted = 50), file("light", 40))
    val chain = Seq(file("a", 1), file("b", 9), file("c", 80))
    val cases = Table(
      ("what", "files", "settings", "taken"),
      ("its smallest files", giantFirst, bounded(maxFiles = 3), Set("f1", "f2", "f3")),
      ("no giant for one crumb", giantFirst, bounded(maxFiles = 2), Set("f1", "f2")),
      (
        "what the bytes allow",
        giantFirst,
        bounded(maxFiles = 9, maxBytes = 39),
        Set("f1", "f2", "f3", "f4", "f5")
      ),
      ("no file alone", giantFirst, bounded(maxFiles = 1), Set.empty[String]),
      ("a file alone that is heavy with deleted rows", heavy, bounded(maxFiles = 1), Set("heavy")),
      (
        "the files that are not too small for each other",
        chain :+ file("d", 9),
        bounded(maxFiles = 2),
        Set("b", "d")
      ),
      ("nothing where no two are", chain, bounded(maxFiles = 2), Set.empty[String])
    )
    forAll(cases) { (_, files, settings, taken) =>
      val plan = OptimizePlanner.compact(files, settings)
      assert(plan.files.map(_.path).toSet == taken)
      assert((plan.files ++ plan.deferred.flatMap(_.files)).toSet == files.toSet)
    }
  }

  test("a part is found in time linear in the bin") {
    val old = (1 to 100000).map(i => file(s"old$i", 1000, optimizedFor = Some(1L << 30)))
    val large = bounded(maxFiles = 10000).copy(targetFileSize = 1L << 30, minFileSize = 1L << 30)
    val plan = OptimizePlanner.compact(old :+ file("new", 5000), large)
    assert(plan.files.size <= 10000 && plan.files.exists(_.path == "new"))
  }

  test("a bin beyond the bounds does not wait for ever behind those within") {
    val many = (1 to 10).map(i => file(s"many$i", 1, "p=1"))
    val few = Seq(file("few1", 10, "p=2"), file("few2", 10, "p=2"))
    val plan = OptimizePlanner.compact(many ++ few, bounded(maxFiles = 5))
    assert(plan.bins.map(bin => bin.partition.text -> bin.files.size) == Seq("p=1" -> 5))
  }

  test("a Z-order is of a whole partition or of none") {
    val plan = zOrder(threeBins, bounded(maxFiles = 3, order = BinOrder.Largest))
    assert(plan.bins.map(_.partition.text) == Seq("p=1"))
    assert(plan.deferred.map(_.partition.text).toSet == Set("p=2", "p=3"))
  }

  private val zstd = settings.copy(compression = Some(Compression(ZSTD)))

  private def others(files: DataFile*): CodecFindings =
    CodecFindings(files.map(file => file.id -> Set[CompressionCodecName](SNAPPY, GZIP)).toMap)

  test("a file with another codec is rewritten by itself, however large, and the others stay") {
    val (a, b, large) = (file("a", 60), file("b", 60), file("large", 500))
    val plan = OptimizePlanner.compact(Seq(a, b, large), zstd, None, others(a, large))
    assert(plan.bins.map(bin => bin.files.map(_.path) -> bin.tags) == Seq(
      Seq("large") -> NewFileTags.OfLargeInput,
      Seq("a") -> NewFileTags.OfInput
    ))
    assert(plan.bins.map(_.tier).distinct == Seq(
      Tier.Recompress("pages are compressed as GZIP and SNAPPY, not as ZSTD")
    ))
    assert(plan.bins.forall(bin => RewriteNeed.of(bin.files.head, bin, plan) == RewriteNeed.Alone))
    assert(plan.compression.contains(Compression(ZSTD)))
  }

  test("files that are packed anyway are not looked at for their codec") {
    val files = Seq(file("a", 10), file("b", 10), file("c", 500), file("d", 100))
    val plan = OptimizePlanner.compact(files, zstd)
    assert(plan.notPlanned(files).map(_.path).toSet == Set("c", "d"))
    val bounded = OptimizePlanner.compact(files, zstd.copy(maxFiles = Some(1)))
    assert(bounded.bins.isEmpty && bounded.notPlanned(files).map(_.path).toSet == Set("c", "d"))
  }

  test("files are recompressed within the bounds of a run") {
    val files = (1 to 5).map(i => file(s"f$i", 200))
    val plan = OptimizePlanner.compact(files, zstd.copy(maxFiles = Some(2)), None, others(files: _*))
    assert((plan.bins.size, plan.deferred.size) == (2, 3))
  }

  test("a file whose codec is not known is left with the reason") {
    val codecs = CodecFindings(unknown = Map(file("a", 500).id -> "it is encrypted"))
    val plan = OptimizePlanner.compact(Seq(file("a", 500)), zstd, None, codecs)
    assert(plan.isEmpty && plan.left.map(_.tier) == Seq(Tier.Rows("it is encrypted", RowsCause.File)))
  }

  test("where no file can be spliced, the reason says both why it is rewritten and why by rows") {
    val rows = Tier.Rows("a column has type geometry", RowsCause.Table)
    val plan = OptimizePlanner.compact(Seq(file("a", 500)), zstd, Some(rows), others(file("a", 500)))
    val why = "pages are compressed as GZIP and SNAPPY, not as ZSTD; a column has type geometry"
    assert(plan.bins.map(_.tier) == Seq(Tier.Rows(why, RowsCause.Table)))
  }

  test(
    "a file in order that is heavy, or has another codec, is rewritten and keeps its place; others are left"
  ) {
    val (a, b, heavy) = (file("a", 60), file("b", 60), file("heavy", 60, deleted = 50))
    val others = file("of others", 60, deleted = 50)
    val plan = OptimizePlanner.ordered(
      Seq(a, b, heavy, others),
      Seq(ClusterGroup.all(Seq(a), settings)),
      _ == heavy,
      zstd,
      byX,
      codecs = this.others(b)
    )
    assert(plan.bins.map(bin => bin.files.map(_.path) -> bin.tags).toSet == Set(
      Seq("a") -> NewFileTags.TargetSize,
      Seq("b") -> NewFileTags.OfInput,
      Seq("heavy") -> NewFileTags.OfInput
    ))
    assert(plan.bins.map(plan.outputsOf) == Seq(1, 1, 1))
  }

  test(
    "both entries of a path that the log names twice stay, whatever the layout, and the rest is rewritten"
  ) {
    val (once, more) = (file("once", 10), file("more", 10))
    val twice = Seq(file("twice", 10), file("twice", 10, deleted = 50))
    val files = twice ++ Seq(once, more)
    val all = files.map(_.id).toSet
    val plans = Table(
      "plan",
      OptimizePlanner.compact(files, settings),
      OptimizePlanner.purge(files, all, settings, Layout.Purge(oneByOne = false)),
      zOrder(files, settings),
      OptimizePlanner.ordered(files, Seq(ClusterGroup.all(files, settings)), _ => true, settings, byX)
    )
    forAll(plans) { plan =>
      assert(plan.files.toSet == Set(once, more))
      assert(plan.left.map(_.files) == twice.map(Seq(_)))
      assert(plan.left.forall(_.tier.reason.contains("names the file twice")))
    }
  }

  test("the codec of a table's property") {
    val cases = Table(
      ("property", "codec"),
      ("none", Some(UNCOMPRESSED)),
      ("Uncompressed", Some(UNCOMPRESSED)),
      ("SNAPPY", Some(SNAPPY)),
      (" lz4", Some(LZ4)),
      ("lz4_raw", Some(LZ4_RAW)),
      ("brotli", None)
    )
    forAll(cases)((property, codec) => assert(OptimizeSettings.codecOf(property) == codec))
  }

  test("codec and level are checked together") {
    def compressionOf(defaults: OptimizeSettings, pairs: (String, String)*) =
      OptimizeSettings(new Options("OPTIMIZE", pairs, OptimizeSettings.entries), defaults).compression
    def compression(pairs: (String, String)*) = compressionOf(settings, pairs: _*)
    assert(compressionOf(zstd, "level" -> "22").contains(Compression(ZSTD, Some(22))))
    assert(compressionOf(zstd, "codec" -> "gzip").contains(Compression(GZIP)))
    assert(compression().isEmpty)
    assert(compression("codec" -> "ZSTD", "level" -> "22").contains(Compression(ZSTD, Some(22))))
    assert(compression("codec" -> "uncompressed").contains(Compression(UNCOMPRESSED)))
    val refused = Table(
      "options",
      Seq("level" -> "3"),
      Seq("codec" -> "snappy", "level" -> "3"),
      Seq("codec" -> "zstd", "level" -> "23"),
      Seq("codec" -> "zstd", "level" -> "0"),
      Seq("codec" -> "gzip", "level" -> "10"),
      Seq("codec" -> "brotli"),
      Seq("codec" -> "lz4")
    )
    forAll(refused) { pairs =>
      val e = intercept[UpkeepException](compression(pairs: _*))
      assert(e.getCondition == "DELTA_UPKEEP.INVALID_OPTION")
    }
  }
}
