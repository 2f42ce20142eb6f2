# Every target first brings .venv up to date with the pins that it needs; `make` alone says what there is.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ALL_READY := $(VENV)/.all-ready
ARGS ?=
STORE ?= sqlite

.DEFAULT_GOAL := help
.PHONY: help setup demo report test check bench clean

help: ## say what there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(ALL_READY) ## make .venv with all pinned dependencies and the segue command

demo: $(if $(filter cassandra,$(STORE)),$(ALL_READY),$(READY)) ## three sites replay real listening, an artist releases an album (STORE=cassandra, ARGS="--seconds 10" ...)
	$(BIN)/segue demo --store $(STORE) $(ARGS)

report: $(ALL_READY) ## characterize the listening of Last.fm (see docs/characterize.md)
	rm -rf build/lastfm build/lastfm-report
	$(BIN)/segue analyze import lastfm examples/data/lastfm build/lastfm
	$(BIN)/segue analyze characterize build/lastfm $(ARGS)

test: $(ALL_READY) ## run every test (ARGS="tests/broker -k ring" for some)
	env -u PYTHONASYNCIODEBUG PYTHONWARNINGS=default $(BIN)/pytest --numprocesses 2 --dist loadfile $(ARGS)

check: $(ALL_READY) ## format, lint, types, imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(ALL_READY) ## run the benchmarks, as tables (see bench/README.md)
	$(BIN)/python -m bench $(ARGS)

clean: ## remove .venv, caches and build products
	rm -rf $(VENV) build dist *.egg-info .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml requirements/runtime.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Segue needs Python 3.11 or newer, and $(PYTHON) is not: $$($(PYTHON) --version 2>&1). Try: make setup PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --requirement requirements/runtime.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# What only analysts and developers need is large, and the demo does without it.
$(ALL_READY): $(READY) requirements/analytics.txt requirements/dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --requirement requirements/dev.txt
	@touch $@
