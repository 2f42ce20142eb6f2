"""Characterizations made up without a trace. They are small and have every figure, as the report and the comparison read them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from analytics.figures import FIGURES, Figure
from analytics.summary import Filter, LikelihoodRatio, TailFit, WorkloadSummary, write
from infra.kernel.manifest import Manifest, TableInfo
from infra.kernel.trace import SERVICES

HOUR_MS = 3_600_000
START_MS = 1_357_772_400_000  # Thursday 10 January 2013, midnight in Stockholm
DAYS = 10
Columns = dict[str, NDArray[Any] | list[str]]

ABOUT = Manifest(
    name="made up",
    origin="generated",
    source="a test",
    profile="spotify",
    scale=0.01,
    seed=7,
    start_ms=START_MS,
    end_ms=START_MS + DAYS * 24 * HOUR_MS,
    time_zone="Europe/Stockholm",
    pseudonymisation="numbers only",
    sites=("ash", "lon", "sto"),
    tables={"subscriptions": TableInfo(rows=12_000), "publications": TableInfo(rows=3_000, fraction=0.1)},
)
FIT = TailFit(
    n=1000,
    n_tail=400,
    xmin=3.0,
    decades=2.5,
    alpha=2.1,
    sigma=0.05,
    ks=0.012,
    p_value=0.41,
    bootstraps=50,
    against={"lognormal": LikelihoodRatio(ratio=-1.9, p=0.04), "truncated_power_law": LikelihoodRatio(ratio=0.4, p=0.7)},
    verdict="a power law is plausible",
)
SUMMARY = WorkloadSummary(
    manifest=ABOUT,
    filter=Filter(kinds=("diagnostic", "ping"), dropped={"ping": 30, "diagnostic": 0}, rows=3_030),
    measures={
        "topics": 11_000.0,
        "subscribers": 49_000.0,
        "pairs": 120_000.0,
        "events": 30_400_000.0,
        "days": 10.0,
        "popularity.r2": 0.991,
        "rate.knee_events": 150.0,
        "size_nnr.slope": 1.02,
        "size_nnr.slope.low": 0.99,
        "size_nnr.slope.high": 1.05,
        "publications.share.presence": 0.81,
    },
    fits={"popularity": FIT, "size": FIT},
    rows={},
    skipped={"mutual_share": "topics are no users"},
    binning={"publications": "hours; publications are a sample of 10 %, scaled up"},
    settings={"service": "presence", "diagnostic": ["diagnostic", "ping"], "bootstraps": 50, "no_report": False},
    timings_s={"read": 1.25, "popularity": 0.5},
)


def make(folder: Path, *, seed: int = 1, without: tuple[str, ...] = (), about: Manifest = ABOUT, factor: int = 1) -> Path:
    """Writes a characterization and returns `folder`, which it makes.

    - `seed`: of all values.
    - `without`: the figures that are left out.
    - `about`: the manifest of the trace.
    - `factor`: multiplies what is counted.
    """
    (folder / "curves").mkdir(parents=True)
    rng = np.random.default_rng(seed)
    rows = {}
    for figure in FIGURES.values():
        columns = _KINDS[figure.kind](figure, rng, factor)
        if figure.key not in without:
            rows[figure.key] = _write(folder / "curves", figure.key, columns)
            if figure.kind == "mean":
                x = rng.integers(0, 60, 200)
                _write(folder / "curves", f"{figure.key}_points", {"x": x, "y": x * rng.lognormal(0, 1, 200)})
    skipped = SUMMARY.skipped | dict.fromkeys(without, "there are no times")
    write(folder, msgspec.structs.replace(SUMMARY, manifest=about, rows=rows, skipped=skipped))
    return folder


def ccdf(values: NDArray[np.int64]) -> Columns:
    """Returns the columns of a CCDF of these values."""
    found, counts = np.unique(values, return_counts=True)
    return {
        "value": found,
        "percent": 100.0 * found / values.sum(),
        "count": counts,
        "ccdf": counts[::-1].cumsum()[::-1] / len(values),
    }


def _ccdf(_: Figure, rng: np.random.Generator, factor: int) -> Columns:
    return ccdf(factor * np.minimum(rng.zipf(2.0, 4000), 5000) - factor * rng.integers(0, 2, 4000))


def _mean(_: Figure, rng: np.random.Generator, factor: int) -> Columns:
    value = np.arange(1, 60)
    return {"value": factor * value, "n": 6000 // value**2 + 1, "mean": 2.5 * value * rng.lognormal(0, 0.1, len(value))}


def _line(_: Figure, rng: np.random.Generator, factor: int) -> Columns:
    time_ms = START_MS + HOUR_MS * np.arange(24 * DAYS)
    return _by_service({"time_ms": time_ms}, lambda: factor * _day(np.arange(len(time_ms)) % 24) * rng.lognormal(0, 0.05, len(time_ms)))


def _cycle(figure: Figure, rng: np.random.Generator, factor: int) -> Columns:
    name, length = ("hour", 24) if figure.key == "daily" else ("day", 7)
    return _by_service({name: np.arange(length)}, lambda: factor * _day(np.arange(length)) * rng.lognormal(0, 0.05, length))


def _day(hour: NDArray[np.int64]) -> NDArray[np.float64]:
    return 1000.0 - 700 * np.cos((hour - 4) * 2 * np.pi / 24)


def _by_service(axis: dict[str, NDArray[np.int64]], values: Callable[[], NDArray[np.float64]]) -> Columns:
    (name, x), *_ = axis.items()
    size = len(x)
    return {
        name: np.tile(x, len(SERVICES)),
        "series": [service for service in SERVICES for _ in range(size)],
        "value": np.concatenate([values() / 6**place for place in range(len(SERVICES))]),
    }


def _write(curves: Path, name: str, columns: Columns) -> int:
    found = pa.table(columns)
    pa.csv.write_csv(found, curves / f"{name}.csv")
    pa.parquet.write_table(found, curves / f"{name}.parquet")
    return int(found.num_rows)


_KINDS: dict[str, Callable[[Figure, np.random.Generator, int], Columns]] = {"ccdf": _ccdf, "mean": _mean, "line": _line, "cycle": _cycle}
