"""Publications over time (thesis figures 5.7 and 5.8), their day and their week, and what the filter leaves out (WA-3)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from pyspark.sql import functions as f

from analytics.errors import NotSupported
from analytics.summary import Filter
from analytics.trace import Trace
from infra.kernel.trace import SERVICES

from .binned import binned
from .cycles import publication_measures
from .drawing import Drawing
from .grid import Floats, Series
from .lines import write_cycles
from .sites import local_and_remote

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_KEPT: Final = ""
_MEASURES: Final = tuple(f"publications.{name}" for name in ("share", "peak_hour", "trough_hour", "weekend", "sunday"))
_TOO_SHORT: Final = "there are too few events or whole days of the kind that it compares, or not all the services"
_SITES: Final = "A publication is local once if its own site has a subscriber, and remote once for each other site that has one."


def draw_publications(drawing: Drawing, rows: "DataFrame") -> tuple[Series, Filter]:
    """Draws the figures. Returns the publications of each service by fine bin, and what was left out."""
    results, dropped_as = drawing.results, _dropped_as(drawing.diagnostic)
    everything = binned(rows, drawing.grid, f.col("service"), dropped_as)
    left_out, found = _filter(drawing.diagnostic, everything.rows(1)), everything.only(1, _KEPT)
    scale = drawing.scale("publications")
    series: dict[str, Floats] = {each: found.total({0: each}) * scale for each in SERVICES if (each, _KEPT) in found.series}
    if not series:
        results.lacks("publications", "no publication of the period is left after the filter")
        return series, left_out
    drawing.note_sample("publications", "publications", found)
    drawing.line("publications", series)
    write_cycles(drawing.grid, series, results, drawing.folder)
    results.measure_all(publication_measures(drawing.grid, series), _TOO_SHORT)
    drawing.skip_other_services(_MEASURES, set(series), "publication")
    if results.wants("local_remote"):
        with results.step("local and remote"):
            _draw_sites(drawing, rows.where(dropped_as == _KEPT), scale)
    return series, left_out


def filtered(spark: "SparkSession", trace: Trace, kinds: tuple[str, ...]) -> Filter:
    """Returns how many publications of each of `kinds` are left out, where `trace` has no period to draw them in. `spark`: reads them."""
    if not trace.has("publications"):
        return _filter(kinds, {})
    counted = trace.frame(spark, "publications").groupBy(_dropped_as(kinds).alias("kind")).agg(f.count("*").alias("n")).collect()
    return _filter(kinds, {row["kind"]: row["n"] for row in counted})


def _filter(kinds: tuple[str, ...], rows: Mapping[str, int]) -> Filter:
    dropped = {kind: rows[kind] for kind in sorted(rows) if kind != _KEPT}
    return Filter(kinds=kinds, dropped=dropped, rows=sum(rows.values()))


def _draw_sites(drawing: Drawing, rows: "DataFrame", scale: float) -> None:
    results = drawing.results
    try:
        found = local_and_remote(rows, drawing.trace.subscriptions(drawing.spark), drawing.grid)
    except NotSupported as reason:
        results.skip("local_remote", str(reason))
        return
    drawing.line("local_remote", {name: counts * scale for name, counts in found.items()})
    results.note("local_remote", _SITES)
    local, remote = (float(found[name].sum()) for name in ("local", "remote"))
    results.measure("local_remote.ratio", remote / local if local else None, "no publication has a subscriber at its own site")


def _dropped_as(kinds: tuple[str, ...]) -> "Column":
    """Returns the kind of a row where it is one of `kinds`, else the empty text."""
    kind = f.col("kind")
    return f.when(kind.isin(*kinds), kind).otherwise(_KEPT)
