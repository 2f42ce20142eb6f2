"""Relations as means, slopes, rank correlations and points: size with what is received, popularity with what is published."""

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from pyspark.sql import functions as f

from analytics.fitting.correlation import LEAST_PAIRS, interval, slope_interval

from .curves import csv, publish
from .distribution import Thinned, ranks
from .distribution_figures import Samples
from .means import FEWEST_PER_BIN, Cloud, Means, beyond_line, means, spearman
from .results import Results
from .samples import points_shown
from .service_tables import ServiceTables

if TYPE_CHECKING:
    import numpy.typing as npt

# Twitter's users with more followers than this are celebrities, who tweet less.
_STARS: Final = 100_000
_SHOWN: Final = {
    "size_nnr": "Mean NNR of the subscribers who get at least one event, by the number of their topics.",
    "popularity_rate": "Mean events of the topics with at least one event, by the number of their subscribers.",
}


class FittedLine(NamedTuple):
    """The line log10 y = `intercept` + `slope` log10 x. `low`, `high`: the interval of the slope."""

    slope: float
    low: float
    high: float
    intercept: float


def relate(
    tables: ServiceTables, curves: dict[str, Thinned], ranked: Path, samples: Samples, results: Results, folder: Path, scratch: Path
) -> None:
    """Measures and writes both figures, as far as they are wanted.

    - `tables`: the users and topics. `samples`: some of them, to show.
    - `curves`, `ranked`: the distributions, thinned, and the folder with the exact ones.
    - `results`: takes what is found. `folder`: where `curves/` is. `scratch`: for tables that are used again.
    """
    if tables.subscriber is None or "popularity_rate.x" not in curves:
        return
    clouds = [cloud for cloud in _clouds(tables) if results.wants(cloud.key)]
    if not clouds:
        return
    found, exact = means(clouds, scratch)
    for cloud in clouds:
        x, y = _axes(cloud.key)
        rho = spearman(cloud.rows, ranks(ranked, x, curves[x], cloud.rows), ranks(ranked, y, curves[y], cloud.rows))
        _note_correlation(results, cloud.key, rho, curves[x].n)
        line = _line(found[cloud.key])
        _note_line(results, cloud.key, line)
        if cloud.key == "popularity_rate":
            _note_stars(results, cloud, exact, line)
        _write(cloud, found[cloud.key], exact, _points(tables, samples, cloud.key), results, folder)


def _clouds(tables: ServiceTables) -> list[Cloud]:
    assert tables.subscribers is not None
    assert tables.subscriber is not None
    received, subscribers, events = f.col("received"), f.col("subscribers"), f.col("events")
    receiving = tables.subscribers.where(received > 0).select(f.col("size").alias("x"), received.alias("y"))
    both = tables.topics.where((subscribers > 0) & (events > 0)).select(subscribers.alias("x"), events.alias("y"))
    return [
        Cloud("size_nnr", receiving, tables.subscriber.most_topics, tables.topic.events / 100),
        Cloud("popularity_rate", both, tables.topic.most_subscribers, 1),
    ]


def _axes(key: str) -> tuple[str, str]:
    """Returns the keys of the distributions of x and of y."""
    return f"{key}.x", "nnr" if key == "size_nnr" else f"{key}.y"


def _line(found: Means, limit: float = _STARS) -> FittedLine:
    below = found.bin_x <= limit
    x, y = found.bin_x[below], found.bin_mean[below]
    slope, low, high = slope_interval(x, y)
    return FittedLine(slope, low, high, float(np.mean(np.log10(y) - slope * np.log10(x))) if len(x) else np.nan)


def _note_correlation(results: Results, key: str, rho: float | None, n: int) -> None:
    if n < LEAST_PAIRS:
        rho, why_not = None, f"a correlation wants {LEAST_PAIRS} pairs of values, and there are {n}"
    else:
        why_not = "all values are equal"
    low, high = (None, None) if rho is None or not np.isfinite(rho) else interval(rho, n)
    results.measure_all({f"{key}.spearman": rho, f"{key}.spearman.low": low, f"{key}.spearman.high": high}, why_not)


def _note_line(results: Results, key: str, line: FittedLine) -> None:
    found = {f"{key}.slope": line.slope, f"{key}.slope.low": line.low, f"{key}.slope.high": line.high}
    results.measure_all(found, f"fewer than three bins have {FEWEST_PER_BIN} values")


def _note_stars(results: Results, cloud: Cloud, exact: Path, line: FittedLine) -> None:
    if cloud.largest <= _STARS:
        results.skip("popularity_rate.beyond", f"no topic has more than {_STARS:,} subscribers")
    else:
        beyond = beyond_line(exact, cloud.key, line.slope, line.intercept, _STARS, cloud.rows)
        results.measure("popularity_rate.beyond", beyond)


def _write(cloud: Cloud, found: Means, exact: Path, points: "npt.NDArray[np.int64]", results: Results, folder: Path) -> None:
    key = cloud.key
    publish(exact, folder, key)
    csv(folder, key, {"value": found.value, "n": found.n, "mean": found.mean})
    results.rows[key] = found.rows
    csv(folder, f"{key}_points", {"x": points[:, 0], "y": points[:, 1] / cloud.unit})
    thinned = (
        "every value" if len(found.value) == found.rows else f"{len(found.value):,} of {found.rows:,} values, one in each logarithmic bin"
    )
    results.note(
        key,
        f"{_SHOWN[key]} The CSV has {thinned}; the points are a uniform sample of {len(points):,}. The slope is that of the means "
        f"in tenths of a decade, {FEWEST_PER_BIN} values or more in each, up to x = {_STARS:,}.",
    )


def _points(tables: ServiceTables, samples: Samples, key: str) -> "npt.NDArray[np.int64]":
    """Returns as many of the sample as are shown, in its order."""
    assert samples.subscribers is not None
    assert tables.subscriber is not None
    rows, population = (samples.subscribers, tables.subscriber.subscribers) if key == "size_nnr" else (samples.topics, tables.topic.topics)
    return rows[(rows > 0).all(axis=1)][: points_shown(population)]
