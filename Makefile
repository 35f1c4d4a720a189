SHELL := /usr/bin/env bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL:
.DEFAULT_GOAL := help

PYTHON ?= python3
PLATFORM ?= 4.2
DEMO_SF ?= 0.1
DEMO_COMMITS ?= 30
BENCH_SF ?= 1
BENCH_RUNS ?= 5
BENCH_CASES ?=
TORTURE_SEED := $(or $(TORTURE_SEED),$(shell date +%s))
TORTURE_MINUTES ?= 30
TORTURE_POINTS ?= 0

# Ends a command in a list of commands.
define newline


endef

VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' python/delta_upkeep/version.py)
SBT_VERSION := $(shell sed -n 's/^sbt.version=//p' project/build.properties)

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --quiet --disable-pip-version-check
SPHINX = $(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -c python/docs -d build/doctrees
# Two Spark sessions: tests wait more than they compute.
PYTEST = $(1)/bin/python -m pytest -c tests/pytest.ini --rootdir=. -n 2 --dist loadgroup --durations 10
SBT_JAR := $(VENV)/sbt/sbt-launch.jar
JAVA := $(if $(JAVA_HOME),$(JAVA_HOME)/bin/java,java)
SBT := $(JAVA) -Xmx2g -Dsbt.override.build.repos=true -Dsbt.repository.config=$(CURDIR)/project/repositories \
	-Dsbt.supershell=false -Dsbt.color=false -jar $(SBT_JAR)

# Lines of Spark with their Scala, and the oldest and newest pair of Spark and Delta in each. Spark 4.2 has one Delta.
LINES := 3.5_2.12 3.5_2.13 4.0_2.13 4.1_2.13 4.2_2.13
PAIRS := 3.5.2-3.2.1 3.5.6-3.3.2 4.0.1-4.0.0 4.0.1-4.4.0 4.1.1-4.1.0 4.1.2-4.4.0
JAR := scala/target/scala-2.13/delta-upkeep_2.13-$(VERSION).jar
JARS := $(foreach line,$(LINES),scala/target/$(line)/scala-$(lastword $(subst _, ,$(line)))/delta-upkeep_$(line)-$(VERSION).jar)
OWN_JAR := $(filter scala/target/4.2_%,$(JARS))
# For PLATFORM. The main project is for Spark 4.2, and PySpark 3.5 comes with Scala 2.12.
IS_MAIN := $(filter 4.2,$(PLATFORM))
NEWEST := $(VENV)/platforms/$(lastword $(filter $(PLATFORM).%,$(PAIRS)))
PROJECT := upkeep$(if $(IS_MAIN),,-$(subst .,_,$(PLATFORM)$(if $(filter 3.5,$(PLATFORM)),-2.12)))
BENCH_ON_PLATFORMS := small tiny checkpoint_200k appends_1k appends_200k
# Rooms that know nothing of Delta tables, without the suites that fuzz or need all memory.
UNITS := io.deltaupkeep.* -*Fuzz* -*SpliceMemory*
# What shows that a pair works: Scala suites and Python tests. On Spark 3.5, the Scala 2.12 artifact runs all suites of 3.5,
# because its sources are changed for it.
CONTRACT := *AdapterContractSuite *ActiveFilesSuite *CheckpointHookSuite *UpkeepObserverSuite *DropInSuite
ON_PLATFORMS := $(addprefix tests/,test_auto_compaction.py test_bad_input.py test_checkpoint.py test_cleanup.py test_fleet.py \
	test_maintain_and_health.py test_optimize.py test_platforms.py test_readme.py test_results.py test_sql.py test_stored_types.py \
	test_switch.py test_vacuum.py)
# On the lines between the oldest and the newest, what goes by rows, logs and Spark's types is enough.
BETWEEN := $(filter-out $(addprefix tests/,test_bad_input.py test_fleet.py test_readme.py test_results.py),$(ON_PLATFORMS))
# With the newest Delta of a Spark, these show that the pair works: all run with the oldest one, and Delta 4.4 with Spark 4.2.
OF_NEWEST := $(addprefix tests/,test_auto_compaction.py test_checkpoint.py test_platforms.py test_sql.py test_vacuum.py)
# Delta's own statistics, operations and errors differ most in the oldest Delta; Spark 4.2 has the newest.
OF_OLDEST := $(addprefix tests/,test_analyze.py test_damaged.py test_fsck.py test_fsck_log.py)
# Projects of the contract for a pair, besides that of the oldest.
LINE_3.5.6-3.3.2 := 3_5
LINE_4.0.1-4.0.0 := 4_0-delta-4_0
LINE_4.1.1-4.1.0 := 4_1-delta-4_1
PUBLISHED := scala/target/repository/.published
WHEEL := dist/delta_upkeep-$(VERSION)-py3-none-any.whl
# Deleting a file makes its directory newer.
SCALA_SOURCES := $(shell find scala/src/main) LICENSE NOTICE build.sbt project/Platform.scala project/plugins.sbt project/build.properties
PYTHON_FILES := $(shell find python/delta_upkeep -name '*.py' -o -name '*.css' -o -name py.typed) python/pyproject.toml python/README.md
PYTHON_SOURCES := python/delta_upkeep $(PYTHON_FILES)

.PHONY: help
help: ## List every target
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

.PHONY: setup
setup: $(VENV)/.installed ## Make .venv with the package installed, for Spark 4.2

.PHONY: demo
demo: setup ## Maintain a table of TPC-H lineitem; DEMO_SF=1 scales it up
	$(BIN)/python python/demo/demo.py --scale-factor $(DEMO_SF) --commits $(DEMO_COMMITS)

.PHONY: bench
bench: setup $(SBT_JAR) $(if $(IS_MAIN),,publish-local $(NEWEST)/.installed) ## Measure against Delta, Delta Kernel and delta-rs; BENCH_SF=0.01 BENCH_RUNS=1 BENCH_CASES='small first' is short, PLATFORM=3.5 is on that line of Spark
	$(SBT) $(PROJECT)/Test/compile </dev/null
	PYTHONPATH=tests $(if $(IS_MAIN),$(VENV),$(NEWEST))/bin/python -m bench.run \
		--scale-factor $(BENCH_SF) --runs $(BENCH_RUNS) --cases $(if $(BENCH_CASES),$(BENCH_CASES),$(if $(IS_MAIN),,$(BENCH_ON_PLATFORMS)))

.PHONY: test
test: $(if $(IS_MAIN),lint test-scala test-python,test-line) ## Run every check and every test; PLATFORM=4.1 tests on that line of Spark

.PHONY: test-line
test-line: publish-local $(NEWEST)/.installed
	$(SBT) $(PROJECT)/test $(PROJECT)/Test/package </dev/null
	$(call PYTEST,$(NEWEST)) $(ON_PLATFORMS) $(OF_OLDEST) -m "not this_clone" $(ARGS)

.PHONY: test-platforms
test-platforms: publish-local $(foreach pair,$(PAIRS),$(VENV)/platforms/$(pair)/.installed) ## Run the contract and end-to-end tests with the oldest and the newest Delta of each line of Spark
	$(BIN)/python project/check_house.py $(JARS)
	$(SBT) upkeep-3_5-2_12-delta-3_2/test \
		$(foreach pair,$(PAIRS),$(if $(LINE_$(pair)),"upkeep-$(LINE_$(pair))/testOnly $(CONTRACT)")) \
		upkeep-3_5-2_12/Test/package \
		$(foreach line,4.0 4.1,$(if $(filter $(line).%,$(PAIRS)),upkeep-$(subst .,_,$(line))/Test/package)) </dev/null
	$(foreach pair,$(PAIRS),$(call PYTEST,$(VENV)/platforms/$(pair)) $(if $(filter %-3.3.2 %-4.4.0,$(pair)),$(OF_NEWEST),$(if $(filter %-3.2.1,$(pair)),$(ON_PLATFORMS),$(BETWEEN))) \
		$(if $(filter %-3.2.1,$(pair)),$(OF_OLDEST)) \
		-m "not (this_clone or one_platform)" $(ARGS)$(newline))

.PHONY: lint
lint: $(SBT_JAR) ## Check formatting, types and the rooms of the sources
	$(BIN)/ruff format --check --config python/pyproject.toml python project tests
	$(BIN)/ruff check --config python/pyproject.toml python project tests
	cd python && ../$(BIN)/mypy delta_upkeep demo ../tests/bench
	$(SBT) scalafmtCheckAll upkeep/package </dev/null
	$(BIN)/python project/check_house.py $(JAR)

.PHONY: suite-times
suite-times: ## Record how long the suites of the last test-scala took, to balance later runs
	$(PYTHON) project/suite_times.py

.PHONY: unit
unit: $(SBT_JAR) ## Run the tests that need no Delta table
	$(SBT) "upkeep/testOnly $(UNITS)" </dev/null
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=python $(BIN)/python -m pytest -c tests/pytest.ini --rootdir=. -q tests/unit

.PHONY: scala
scala: $(SBT_JAR) ## Run Scala suites: SUITE='*RebaseSuite'
	$(SBT) "upkeep/testOnly $(SUITE)" </dev/null

.PHONY: py
py: setup ## Run Python tests: TEST=tests/test_sql.py ARGS='-k name'
	$(SBT) upkeep/Test/package </dev/null
	$(call PYTEST,$(VENV)) $(TEST) $(ARGS)

.PHONY: test-scala
test-scala: $(SBT_JAR) ## Run the Scala tests
	$(SBT) upkeep/test </dev/null

.PHONY: test-python
test-python: dist $(VENV)/.released $(VENV)/.browser $(VENV)/spark.jsa ## Run the Python tests on the release's files
	$(call PYTEST,$(VENV)) tests $(ARGS)

.PHONY: test-stores
test-stores: setup $(VENV)/.stores ## Run the statements over S3, HDFS, Azure and Google storage, which the tests start
	$(call PYTEST,$(VENV)) -n 0 tests/stores $(ARGS)

.PHONY: torture
torture: setup publish-local $(VENV)/spark.jsa ## Try tables of other writers for TORTURE_MINUTES=30 and readers of every kind, interrupt every request, kill the driver of a fleet, storm, and fuzz; TORTURE_SEED=1 repeats a run, TORTURE_POINTS=150 is fewer
	PYTHONPATH=tests $(BIN)/python -m torture.run --minutes $(TORTURE_MINUTES) --seed $(TORTURE_SEED)
	PYTHONPATH=tests $(BIN)/python -m torture.matrix --seed $(TORTURE_SEED)
	PYTHONPATH=tests $(BIN)/python -m torture.fleet
	PYTHONPATH=tests $(BIN)/python -m torture.logs --minutes $(TORTURE_MINUTES) --seed $(TORTURE_SEED)
	PYTHONPATH=tests $(BIN)/python -m torture.vacuum.run --minutes $(TORTURE_MINUTES) --seed $(TORTURE_SEED)
	$(subst -jar,-DdeltaUpkeep.fuzz=20000 -DdeltaUpkeep.seed=$(TORTURE_SEED) -jar,$(SBT)) "upkeep/testOnly *Fuzz* io.deltaupkeep.parquet.bytes.* io.deltaupkeep.parquet.encoding.* io.deltaupkeep.parquet.footer.* io.deltaupkeep.parquet.page.*" </dev/null
	TORTURE_SEED=$(TORTURE_SEED) TORTURE_POINTS=$(TORTURE_POINTS) TORTURE_KILLS=8 STORM_SECONDS=300 STORM_MERGES=200 $(call PYTEST,$(VENV)) tests/faults $(ARGS)

.PHONY: publish-local
publish-local: $(PUBLISHED) ## Publish to a Maven repository in scala/target/repository

.PHONY: jar
jar: $(SBT_JAR) ## Build the jars of all lines of Spark
	$(SBT) lines/package </dev/null

.PHONY: wheel
wheel: $(WHEEL) ## Build the wheel, with the jars inside

.PHONY: dist
dist: $(WHEEL) publish-local $(VENV)/.dist ## Build and check a release in dist: wheel, source distribution, Maven layout, bills of materials, changes
	rm -rf dist/maven
	cp -r $(dir $(PUBLISHED)) dist/maven
	rm dist/maven/.published
	cp python/docs/changes.md dist/CHANGELOG.md
	$(BIN)/python project/sbom.py dist
	$(BIN)/python project/check_maven.py dist/maven
	$(BIN)/validate-pyproject python/pyproject.toml
	$(BIN)/check-wheel-contents $(WHEEL)
	$(BIN)/twine check --strict $(WHEEL) dist/*.tar.gz

.PHONY: docs
docs: setup $(SBT_JAR) ## Build the site in build/docs: guide, Python API, Scaladoc; a dead link between its pages fails
	$(SBT) upkeep/doc </dev/null
	rm -rf build/docs
	$(SPHINX) -b html . build/docs
	cp build/docs/README.html build/docs/index.html
	cp -r scala/target/scala-2.13/api build/docs/scala
	$(BIN)/python project/check_links.py build/docs >build/links.txt || { cat build/links.txt; exit 1; }

.PHONY: links
links: setup ## Ask the web for every page that the guide links to
	$(SPHINX) -b linkcheck . build/links

.PHONY: format
format: $(SBT_JAR) ## Format Scala and Python
	$(SBT) scalafmtAll </dev/null
	$(BIN)/ruff format --config python/pyproject.toml python project tests
	$(BIN)/ruff check --fix --config python/pyproject.toml python project tests

.PHONY: clean
clean: ## Remove what was built, but not .venv
	rm -rf build dist target project/target project/project scala/target python/delta_upkeep/jars

.PHONY: distclean
distclean: clean ## Remove .venv too
	rm -rf $(VENV)

$(VENV)/.requirements: python/requirements-dev.txt python/requirements-test.txt project/preflight.sh
	PYTHON=$(PYTHON) project/preflight.sh
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -r python/requirements-dev.txt -r python/requirements-test.txt
	touch $@

$(VENV)/.dist: python/requirements-dist.txt $(VENV)/.requirements
	$(PIP) install -r python/requirements-dist.txt
	touch $@

$(VENV)/.browser: python/requirements-browser.txt $(VENV)/.requirements
	$(PIP) install -r python/requirements-browser.txt
	touch $@

# Connectors and servers of stores. What Azurite itself depends on is as it was a week after its release.
$(VENV)/.stores: tests/stores/ivy.xml tests/stores/servers/package.json python/requirements-stores.txt $(VENV)/.requirements
	$(PIP) install -r python/requirements-stores.txt
	$(JAVA) -jar $(wildcard $(VENV)/lib/python3*/site-packages/pyspark/jars/ivy-*.jar) \
		-ivy tests/stores/ivy.xml -confs default -types jar bundle -sync \
		-retrieve "$(VENV)/stores/[artifact].[ext]" >$(VENV)/stores.log 2>&1 || { tail -n 20 $(VENV)/stores.log >&2; exit 1; }
	mkdir -p $(VENV)/azurite
	cp tests/stores/servers/package.json $(VENV)/azurite/
	PATH="$(CURDIR)/$(BIN):$$PATH" npm install --prefix $(VENV)/azurite --before 2026-09-01 --ignore-scripts --no-audit --no-fund --no-progress --loglevel error
	touch $@

# PySpark ships Ivy, so nothing has to be installed to fetch sbt's launcher.
$(SBT_JAR): $(VENV)/.requirements project/build.properties
	$(JAVA) -jar $(wildcard $(VENV)/lib/python3*/site-packages/pyspark/jars/ivy-*.jar) \
		-dependency org.scala-sbt sbt-launch $(SBT_VERSION) -types jar \
		-retrieve "$(VENV)/sbt/[artifact].[ext]" >$(VENV)/ivy.log 2>&1 || { tail -n 20 $(VENV)/ivy.log >&2; exit 1; }
	touch $@

$(OWN_JAR): $(SBT_JAR) $(SCALA_SOURCES) $(PYTHON_FILES)
	$(SBT) upkeep-4_2/package </dev/null
	touch $@

$(PUBLISHED): $(SBT_JAR) $(SCALA_SOURCES) $(PYTHON_FILES)
	rm -rf $(@D)
	$(SBT) lines/publish upkeep/Test/package </dev/null
	touch $@ $(OWN_JAR)

# The wheel is built from the source distribution.
$(WHEEL): $(PUBLISHED) $(PYTHON_SOURCES)
	rm -rf python/delta_upkeep/jars dist
	mkdir -p python/delta_upkeep/jars
	cp $(JARS) python/delta_upkeep/jars/
	cp LICENSE NOTICE python/
	$(BIN)/python -m build --no-isolation --outdir dist python >$(VENV)/wheel.log || { cat $(VENV)/wheel.log >&2; exit 1; }
	touch $@

# With the jar of one line.
$(VENV)/.installed: $(OWN_JAR) $(PYTHON_SOURCES)
	rm -rf build/python
	mkdir -p build/python
	cp -r python/pyproject.toml python/README.md python/delta_upkeep LICENSE NOTICE build/python
	rm -rf build/python/delta_upkeep/jars
	mkdir build/python/delta_upkeep/jars
	cp $(OWN_JAR) build/python/delta_upkeep/jars
	$(PIP) install --no-deps --no-build-isolation --force-reinstall ./build/python
	touch $@

$(VENV)/.released: $(WHEEL)
	$(PIP) install --no-deps --force-reinstall $(WHEEL)
	touch $@ $(VENV)/.installed

# A pair of Spark and Delta with the wheel. Platforms have pairs that delta-spark's requirements forbid. What is not installed
# here comes from the main environment, and PySpark's archives are not kept: a pair takes 0.4 GB instead of 1.8.
$(VENV)/platforms/%/.installed: $(VENV)/.requirements $(WHEEL)
	test -x $(@D)/bin/python || $(PYTHON) -m venv --without-pip $(@D)
	$(PIP) --python $(@D)/bin/python install --no-cache-dir --no-compile pyspark==$(firstword $(subst -, ,$*))
	$(PIP) --python $(@D)/bin/python install --no-deps --force-reinstall $(WHEEL) delta-spark==$(lastword $(subst -, ,$*))
	realpath $(BIN)/../lib/python3*/site-packages >$$(echo $(@D)/lib/python3*/site-packages)/main.pth
	touch $@

# Tests start many JVMs. With this archive they do not have to load and verify Spark's classes one by one.
$(VENV)/spark.jsa: $(VENV)/.requirements tests/support/warm_up.py | $(VENV)/.installed
	PYTHONPATH=tests SPARK_SUBMIT_OPTS=-XX:ArchiveClassesAtExit=$@ $(BIN)/python tests/support/warm_up.py >$(VENV)/warm_up.log 2>&1 || { cat $(VENV)/warm_up.log >&2; exit 1; }
