"""A plugin that measures which lines of the roles are run by the tests of the roles: `pytest -p tests.support.measuring`.

Modules of the roles are loaded with marks (`tests/support/marked_lines.py`). What a test in `FOLDERS` marks is counted, and what
others mark is forgotten. `tests/architecture/coverage_floors.py` judges the result.
"""

import gc
import os
import sys
from collections import defaultdict
from collections.abc import Generator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Final

import coverage
import pytest

from tests.support.marked_lines import MarkedModules

# The tests that are about the roles. Others run the same lines, but what only they reach has no test of its own.
_NAMES: Final = ("accesspoint", "aggregator", "broker", "cluster", "deploy", "infra", "notification", "rule_engine", "services")
FOLDERS: Final = tuple(f"tests/{name}/" for name in _NAMES)


class Measuring:
    """The measuring of one process that runs tests."""

    def __init__(self) -> None:
        coverage_of = coverage.Coverage().config
        packages: list[str] = coverage_of.source or []
        self._file = Path(coverage_of.data_file)
        self._modules = MarkedModules(packages)
        self._counted: dict[str, set[int]] = defaultdict(set)
        self._counts = True
        sys.meta_path.insert(0, self._modules)
        # Definitions are lines that run once, at the import. A test that does not count may be the first to import a module.
        gc.disable()
        for package in packages:
            for module in walk_packages(import_module(package).__path__, f"{package}."):
                import_module(module.name)
        gc.enable()

    def switch(self, on: bool) -> None:
        """Says whether what runs from now on counts."""
        if on != self._counts:
            marked = self._modules.taken()
            for path, lines in marked.items() if self._counts else ():
                self._counted[path].update(lines)
            self._counts = on

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Counts what a test runs, with its fixtures, if it is one of those."""
        self.switch(item.nodeid.startswith(FOLDERS))
        return (yield)

    def pytest_unconfigure(self) -> None:
        """Writes what was measured."""
        self.switch(False)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        data = coverage.CoverageData(str(self._file), suffix=True)
        data.add_lines(self._counted)
        data.write()


def pytest_configure(config: pytest.Config) -> None:
    """Begins in the processes that run tests. The one that gives them out measures nothing."""
    if _MEASURING is not None:
        config.pluginmanager.register(_MEASURING)


# When this module is imported: the tests' conftest, which comes next, imports modules of the roles.
_MEASURING: Final = Measuring() if "PYTEST_XDIST_WORKER" in os.environ else None
