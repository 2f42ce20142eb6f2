# Every target first brings .venv up to date with the pins; `make` alone says what there is.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ARGS ?=
STORE ?= sqlite

.DEFAULT_GOAL := help
.PHONY: help setup demo test check bench clean

help: ## say what there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## make .venv with the pinned dependencies and the segue command

demo: $(READY) ## three sites replay real listening, an artist releases an album (STORE=cassandra, ARGS="--seconds 10" ...)
	$(BIN)/segue demo --store $(STORE) $(ARGS)

test: $(READY) ## run every test (ARGS="tests/broker -k ring" for some)
	env -u PYTHONASYNCIODEBUG PYTHONWARNINGS=default $(BIN)/pytest $(ARGS)

check: $(READY) ## format, lint, types, imports
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY) ## run the benchmarks, as tables (see bench/README.md)
	$(BIN)/python -m bench $(ARGS)

clean: ## remove .venv, caches and build products
	rm -rf $(VENV) build dist *.egg-info .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml requirements/runtime.txt requirements/dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Segue needs Python 3.11 or newer, and $(PYTHON) is not: $$($(PYTHON) --version 2>&1). Try: make setup PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --requirement requirements/dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@
