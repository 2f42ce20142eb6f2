"""A plugin that measures which lines of the roles are run by the tests of the roles: `pytest -p tests.support.measuring`.

CPython 3.11 traces line by line, which doubles the time of Python code. So only the tests in `FOLDERS` are traced, and the whole run
takes little longer. `tests/architecture/coverage_floors.py` judges the result.
"""

import os
from collections.abc import Generator
from importlib import import_module
from pkgutil import walk_packages
from typing import Final

import coverage
import pytest

# The tests that are about the roles. Others run the same lines, but they take long, and what only they reach has no test of its own.
_NAMES: Final = ("accesspoint", "aggregator", "broker", "cluster", "deploy", "infra", "notification", "rule_engine", "services")
FOLDERS: Final = tuple(f"tests/{name}/" for name in _NAMES)
# These have heartbeats of 20 ms, and count what a slow process would add.
UNTRACED: Final = ("tests/cluster/test_drain.py",)


class Measuring:
    """The measuring of one process that runs tests. Outside of the tests in `FOLDERS` it is stopped and costs nothing."""

    def __init__(self) -> None:
        self._coverage = coverage.Coverage(data_suffix=True)
        self._is_on = False
        self.switch(True)
        # Definitions are lines that run once, at the import. A test that is not traced may be the first to import a module.
        for package in self._coverage.config.source or ():
            for module in walk_packages(import_module(package).__path__, f"{package}."):
                import_module(module.name)
        self.switch(False)

    def switch(self, on: bool) -> None:
        """Starts or stops tracing."""
        if on != self._is_on:
            (self._coverage.start if on else self._coverage.stop)()
            self._is_on = on

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Traces a test, with its fixtures, if it is one of those."""
        self.switch(item.nodeid.startswith(FOLDERS) and not item.nodeid.startswith(UNTRACED))
        return (yield)

    def pytest_unconfigure(self) -> None:
        """Writes what was measured."""
        self.switch(False)
        self._coverage.save()


def pytest_configure(config: pytest.Config) -> None:
    """Begins in the processes that run tests. The one that gives them out measures nothing."""
    if _MEASURING is not None:
        config.pluginmanager.register(_MEASURING)


# When this module is imported: the tests' conftest, which comes next, imports modules of the roles.
_MEASURING: Final = Measuring() if "PYTEST_XDIST_WORKER" in os.environ else None
