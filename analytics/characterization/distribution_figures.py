"""The CCDFs as files, and the measures of their shapes."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from analytics.fitting.resampling import LEAST_DISTINCT
from analytics.summary import LEAST_DECADES

from . import shapes
from .curves import csv, publish
from .distribution import Thinned
from .options import Options
from .results import Results
from .samples import MOST, sample
from .service_tables import ServiceTables

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from pyspark.sql import SparkSession

_WHOSE: Final = {
    "popularity": "Topics with at least one subscriber; 100 % are all {total:,} subscribers.",
    "size": "Subscribers; 100 % are all {total:,} topics that have subscribers or events.",
    "rate": "Topics with at least one event; 100 % are all {total:,} events.",
    "nnr": "Subscribers who get at least one event; 100 % are all {total:,} events. Those who get none are in no curve.",
    "session_length": "Sessions that begin and end in the period, in whole seconds, at least 1; 100 % is the period, {total:,} seconds.",
}

_NO_SHAPE: Final = f"fewer than {LEAST_DISTINCT} different values have no shape"
_NO_BEND: Final = f"fewer than {LEAST_DISTINCT} different values, or fewer than {LEAST_DECADES} decades of them, are too short to bend"
_NO_KNEE: Final = f"there are fewer than {2 * LEAST_DISTINCT} different values, or one line fits them as well as two"


def write_curves(curves: dict[str, Thinned], exact: Path, results: Results, folder: Path) -> None:
    """Writes files and rows of each CCDF that is wanted.

    `curves`: the thinned ones. `exact`: the folder with the exact ones, which move to `folder`. `results`: takes the rows.
    """
    for key in _WHOSE:
        if key not in curves or not results.wants(key):
            continue
        curve = curves[key]
        publish(exact, folder, key)
        csv(folder, key, {"value": curve.value, "percent": curve.percent, "count": curve.count, "ccdf": curve.ccdf})
        results.rows[key] = curve.distinct
        results.note(key, _WHOSE[key].format(total=int(curve.total)) + _thinning(curve))


def measure_shapes(spark: "SparkSession", curves: dict[str, Thinned], folder: Path, results: Results) -> None:
    """Measures straightness, knees and kinks of curves that have been written.

    `spark`: reads the exact ones in `folder`. `curves`: the thinned ones. `results`: takes the measures.
    """
    for key in ("popularity", "size"):
        if key in results.rows:
            results.measure_all(shapes.line_measures(key, curves[key]), _NO_SHAPE)
    if "popularity" in results.rows:
        results.measure_all(shapes.star_measures(curves["popularity"]), "too few topics have more than 20,000 subscribers")
    if "size" in results.rows:
        exact = spark.read.parquet(str(folder / "curves" / "size.parquet"))
        results.measure_all(shapes.kink_measures(exact, curves["size"].n), "too few subscribers have so many topics")
    if "rate" in results.rows:
        results.measure_all(shapes.rate_measures(curves["rate"]), _NO_BEND)
        results.measure_all(shapes.knee_measures(curves["rate"]), _NO_KNEE)


class Samples:
    """Samples of at most 20,000 topics (subscribers, events) and as many subscribers (size, received).

    They are in the order of a hash of their numbers.
    """

    def __init__(self, tables: ServiceTables, seed: int) -> None:
        self.topics = sample(tables.topics, "topic", seed, "subscribers", "events")
        self.subscribers = None if tables.subscribers is None else sample(tables.subscribers, "subscriber", seed, "size", "received")

    def columns(self) -> "Iterator[tuple[str, npt.NDArray[np.int64]]]":
        """Yields the values of each figure by its key."""
        yield "popularity", self.topics[:, 0]
        yield "rate", self.topics[:, 1]
        if self.subscribers is not None:
            yield "size", self.subscribers[:, 0]
            yield "nnr", self.subscribers[:, 1]


def fit_tails(samples: Samples, options: Options, results: Results) -> None:
    """Fits the tail of each curve that has been written.

    `samples`: what is fitted. `options`: have seed and number of bootstraps. `results`: takes the fits.
    """
    for number, (key, values) in enumerate(samples.columns()):
        if key in results.rows:
            # A seed of its own for each figure, so that one that is skipped does not change the others.
            results.fits[key] = shapes.fit(values, options.seed + number, options.bootstraps)
            drawn = "topics" if key in ("popularity", "rate") else "subscribers"
            note = f"The fit is of a uniform sample of {MOST:,} {drawn}." if len(values) == MOST else f"The fit is of all {drawn}."
            results.note(key, note)


def _thinning(curve: Thinned) -> str:
    shown = len(curve.value)
    if shown == curve.distinct:
        return " The CSV has every value."
    return f" The CSV has {shown:,} of {curve.distinct:,} values: the smallest in each bin of equal logarithmic width, and the largest."
