"""What tests of several folders share: the real Cassandra server and the Spark session of the run.

Their start is no part of any test's time: it happens around the whole protocol of the first test that wants one, outside of
what pytest-timeout measures.
"""

import gc
import warnings
from collections.abc import AsyncIterator, Generator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

from analytics.session import session
from infra.runtime.cassandra.client import Cassandra
from infra.runtime.event_loop import YOUNG_OBJECTS
from segue.cassandra import Server
from tests.docs.network import own_network
from tests.support.cassandra import SharedServer, fresh_keyspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# What shares something that takes long to make, or much memory, runs in one process: a Spark session, a Cassandra server, compiled kernels,
# the trees of all Python files. Whoever is not named here only makes another one.
_TOGETHER: Final = {
    "tests/analytics/characterization/": "spark",
    "tests/analytics/test_session.py": "spark",
    "tests/analytics/test_trace.py": "spark",
    "tests/architecture/": "architecture",
    "tests/faults/test_promises.py": "cassandra",
    "tests/faults/test_store_away.py": "cassandra",
    "tests/infra/runtime/cassandra/": "cassandra",
    "tests/notification/test_several.py": "cassandra",
    "tests/notification/test_store_contract.py": "cassandra",
    "tests/overlay/report/": "kernels",
    "tests/overlay/simulator/": "kernels",
    "tests/segue/cassandra/": "cassandra",
    "tests/segue/demo/test_second_act.py": "cassandra",
    "tests/services/artist/": "cassandra",
    "tests/services/playlist/test_server.py": "cassandra",
    "tests/services/playlist/test_store_contract.py": "cassandra",
    "tests/services/social/": "cassandra",
    "tests/services/test_": "cassandra",
}
# Pages are walked side by side, each in a network of its own, but those whose readers have done what another one asks for.
_WALK: Final = "tests/docs/test_walk.py::test_a_page_does_as_it_says"
_AFTER: Final = {f"{_WALK}[docs/offloading.md]": f"{_WALK}[docs/running.md]"}
# What takes longest begins first, so that nothing long is left when all else is done.
_FIRST: Final = (
    f"{_WALK}[README.md]",
    "tests/docs/test_walk.py",
    "cassandra",
    "kernels",
    "spark",
    f"{_WALK}[docs/testing.md]",
    f"{_WALK}[docs/simulation.md]",
    f"{_WALK}[docs/running.md]",
    "tests/segue/cli/test_endings.py",
    "tests/deploy/test_refusals.py",
    "tests/e2e/test_drill.py",
    "tests/cluster/test_ring.py",
    "tests/bench/test_ring.py",
    "tests/segue/demo/test_command.py",
    "tests/cluster/test_delivery.py",
    "tests/cluster/test_reference_workload.py",
    "tests/security/test_doors_held.py",
    "tests/segue/drill/test_play.py",
    "tests/e2e/test_ring.py",
    "tests/examples/radio/test_index.py",
    "tests/deploy/test_site.py",
    "tests/bench/test_authorization.py",
)
# On a busy machine the slowest of a hundred examples says nothing about the code. In CI hypothesis has a profile of its own, which stays.
settings.register_profile("tests", parent=settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")
_SHARED = pytest.StashKey[SharedServer]()
_SPARK = pytest.StashKey["SparkSession"]()
_ENDS = pytest.StashKey[ExitStack]()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keeps the collector of garbage away from what is there until the end: modules, and thousands of tests.

    Then it looks as rarely as in a server (`infra/runtime/event_loop.py`). Garbage that complains is told at the end at the latest.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(YOUNG_OBJECTS, 20, 100)
        gc.enable()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Ignores sockets that PySpark leaves to the garbage collector: those that rows come through (`pyspark.rdd._load_from_socket`)."""
    if "spark" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


def _wants_cassandra(item: pytest.Item) -> bool:
    """Returns whether a test wants the server: by the fixture, or by a parameter "cassandra" of its own."""
    chosen = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return "cassandra_server" in getattr(item, "fixturenames", ()) or "cassandra" in filter(is_text, chosen)


class _Files(LoadScopeScheduling):  # type: ignore[misc]
    """A scheduler that gives each file of tests to one process, and what is `_TOGETHER` to one, too. What takes longest comes first."""

    def __init__(self, config: pytest.Config, log: object) -> None:
        super().__init__(config, log)
        self._has_networks = bool(own_network())  # else two walks would want the same ports

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(_WALK) and self._has_networks:
            return _AFTER.get(nodeid, nodeid)
        return next((unit for beginning, unit in _TOGETHER.items() if nodeid.startswith(beginning)), nodeid.partition("::")[0])

    def _assign_work_unit(self, node: object) -> None:
        unit = next((unit for unit in _FIRST if unit in self.workqueue), None)
        if unit is not None:
            self.workqueue.move_to_end(unit, last=False)
        super()._assign_work_unit(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> _Files:
    """Returns who runs which tests when there are several processes."""
    return _Files(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Has the server and the session running before a test that asks for them."""
    if "spark" in getattr(item, "fixturenames", ()) and _SPARK not in item.config.stash:
        item.config.stash[_ENDS] = ExitStack()
        item.config.stash[_SPARK] = item.config.stash[_ENDS].enter_context(session("tests", memory_gb=1, brief=True))
    if _wants_cassandra(item):
        stash = item.config.stash
        if _SHARED not in stash:
            stash[_SHARED] = SharedServer()
        stash[_SHARED].ensure()
    return (yield)


def is_text(value: object) -> bool:
    """Returns whether a parameter is a text: others may be arrays, which do not compare to a truth."""
    return isinstance(value, str)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Ends them with the run."""
    gc.unfreeze()  # modules of other languages complain of what is left of theirs
    if _ENDS in config.stash:
        with warnings.catch_warnings(action="ignore", category=ResourceWarning):
            config.stash[_ENDS].close()
            gc.collect()
    if _SHARED in config.stash:
        config.stash[_SHARED].close()


@pytest.fixture
def cassandra_server(request: pytest.FixtureRequest) -> Server:
    """The server of the run. A test may stop and kill it: for the next one it is started again."""
    return request.config.stash[_SHARED].get()


@pytest.fixture
async def cassandra_store(cassandra_server: Server) -> AsyncIterator[Cassandra]:
    """A store on a fresh keyspace of the server of the run."""
    async with fresh_keyspace(cassandra_server) as store:
        yield store


@pytest.fixture
def spark(request: pytest.FixtureRequest) -> "SparkSession":
    """The session of the run; a test may not stop it."""
    return request.config.stash[_SPARK]
