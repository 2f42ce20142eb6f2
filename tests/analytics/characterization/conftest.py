"""Two traces characterized once for the run: one written by hand, one drawn at random."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow.parquet as pq
import pytest

from analytics.characterization.job import characterize_in
from analytics.characterization.options import Options
from analytics.summary import WorkloadSummary
from analytics.trace import Trace
from infra.kernel.manifest import Manifest
from tests.support.small_world import small_world
from tests.support.traces import write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Done(NamedTuple):
    """A trace, the folder of its characterization, and the summary there."""

    trace: Path
    folder: Path
    summary: WorkloadSummary

    def curve(self, key: str) -> list[tuple[object, ...]]:
        """Returns the rows of the exact curve."""
        return [tuple(row.values()) for row in pq.read_table(self.folder / "curves" / f"{key}.parquet").to_pylist()]

    def csv(self, key: str) -> list[list[str]]:
        """Returns the rows of the CSV, its head first."""
        return [line.split(",") for line in (self.folder / "curves" / f"{key}.csv").read_text().splitlines()]


_SMALL = pytest.StashKey[Done]()
_RANDOM = pytest.StashKey[Done]()


@pytest.fixture
def small(spark: "SparkSession", request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """Characterizes `small_world` once for the run, with all that there is to be found in it.

    `spark`: the session. `request`: knows the run. `tmp_path_factory`: makes the folder.
    """
    stash = request.config.stash
    if _SMALL not in stash:
        stash[_SMALL] = _done(spark, small_world(tmp_path_factory.mktemp("small") / "trace"), Options(bootstraps=0))
    return stash[_SMALL]


@pytest.fixture
def random(spark: "SparkSession", request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """Characterizes thousands of pairs and events of two services, without times; some topics have no events, some no subscribers.

    `spark`: the session. `request`: knows the run. `tmp_path_factory`: makes the folder.
    """
    stash = request.config.stash
    if _RANDOM not in stash:
        stash[_RANDOM] = _done(spark, _random_trace(tmp_path_factory.mktemp("random") / "trace"), Options(bootstraps=2, seed=7))
    return stash[_RANDOM]


def _done(spark: "SparkSession", trace: Path, options: Options) -> Done:
    folder = trace.with_name("report")
    folder.mkdir()
    return Done(trace, folder, characterize_in(spark, Trace.open(trace), folder, options))


def _random_trace(path: Path) -> Path:
    rng = np.random.default_rng(3)
    pairs = np.unique(np.stack([rng.zipf(1.6, 6000) % 1500, rng.zipf(1.4, 6000) % 2000, rng.integers(0, 4, 6000) // 3], axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    topics = np.unique(rng.integers(0, 2500, 1800))
    counts = {
        "service": np.repeat(["presence", "artist"], [len(topics), 50]),
        "topic": np.concatenate([topics, np.arange(50)]) * 1_000_003,
        "site": np.array(["sto", "lon"])[rng.integers(0, 2, len(topics) + 50)],
        "events": np.concatenate([rng.lognormal(3, 2, len(topics)).astype(np.int64), np.full(50, 9)]),
    }
    subscriptions = {
        "subscriber": pairs[:, 0] * 1_000_003,
        "service": np.array(["presence", "artist"])[pairs[:, 2]],
        "topic": pairs[:, 1] * 1_000_003,
    }
    about = Manifest(name="random", origin="generated", source="a test", pseudonymisation="none", profile="twitter")
    return write(path, about, subscriptions=subscriptions, counts=counts)
