"""The head of a report: where the trace comes from, how large it is, and what is not in it."""

from collections import defaultdict
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

from analytics.figures import FIGURES
from analytics.numbers import duration, number
from analytics.summary import Filter, WorkloadSummary
from infra.kernel.html import Html
from infra.kernel.manifest import Manifest

from .markup import element, table, terms

SIZES: Final = {"topics": "topics", "subscribers": "subscribers", "pairs": "pairs", "events": "events"}


def head(summary: WorkloadSummary) -> Html:
    """Returns name, source, period and sizes, and what was filtered, sampled and lost."""
    about = summary.manifest
    return element(
        "header",
        element("p", "Characterization of a workload", class_="kicker"),
        element("h1", about.name),
        element("p", f"{about.source.rstrip('.')}.", class_="lead"),
        sizes(summary.measures),
        terms(_said(summary)),
        *(element("p", note, class_="note") for note in about.notes),
    )


def sizes(measures: dict[str, float]) -> Html:
    """Returns the numbers that say how large a trace is."""
    known = [(number(measures[name]), unit) for name, unit in SIZES.items() if name in measures]
    known += [duration(measures["days"])] if "days" in measures else []
    return element("ul", *(element("li", element("b", value), f" {unit}") for value, unit in known), class_="sizes")


def skipped(summary: WorkloadSummary) -> Html:
    """Lists what could not be computed and why, one row for each reason.

    The measures of a missing figure are not listed one by one: they have its reason.
    """
    missing = summary.manifest.limits | summary.skipped
    by_reason = defaultdict(list)
    for name, reason in missing.items():
        figure, _, measure = name.partition(".")
        if not measure or missing.get(figure) != reason:
            by_reason[reason].append(FIGURES[name].title if name in FIGURES else name)
    if not by_reason:
        return element("p", "Nothing: every figure and every measure could be computed.")
    return table(("why", "what"), [(reason, ", ".join(names)) for reason, names in by_reason.items()])


def _said(summary: WorkloadSummary) -> list[tuple[str, str]]:
    about = summary.manifest
    return [
        ("Origin", _origin(about)),
        ("Period", _period(about)),
        ("Sites", ", ".join(about.sites) or "not known"),
        ("Users", about.pseudonymisation),
        ("Filtered", _filtered(summary.filter)),
        ("Sampled", _sampled(about)),
        ("Lost", ", ".join(f"{number(rows)} rows of {table}" for table, rows in about.dropped.items() if rows) or "nothing"),
    ]


def _origin(about: Manifest) -> str:
    made: list[str] = [about.origin]
    if about.profile is not None:
        made.append(f"profile {about.profile}")
    if about.scale is not None:
        made.append(f"scale {about.scale:g}")
    if about.seed is not None:
        made.append(f"seed {about.seed}")
    return ", ".join(made)


def _period(about: Manifest) -> str:
    if about.start_ms is None or about.end_ms is None:
        return "not known: the source has no times"
    zone = ZoneInfo(about.time_zone)
    start, end = (datetime.fromtimestamp(each / 1000, UTC).astimezone(zone) for each in (about.start_ms, about.end_ms))
    return f"{start:%a %-d %b %Y %H:%M} to {end:%a %-d %b %Y %H:%M}, times in {zone.key}"


def _filtered(found: Filter) -> str:
    kinds = ", ".join(found.kinds) or "no kind"
    if not found.rows:
        return "nothing: there are no publications, which the filter is for"
    dropped = {kind: rows for kind, rows in found.dropped.items() if rows}
    if not dropped:
        return f"nothing: of {number(found.rows)} rows none is diagnostic ({kinds})"
    each = ", ".join(f"{kind} {number(rows)}" for kind, rows in dropped.items())
    return f"{number(sum(dropped.values()))} of {number(found.rows)} rows are diagnostic and were left out before any statistics: {each}"


def _sampled(about: Manifest) -> str:
    unit = {"row": "of the rows", "user": "of the users, with all their rows"}
    found = [
        f"{name} holds {number(100 * info.fraction)} % {unit[info.sampled_by]}" for name, info in about.tables.items() if info.fraction < 1
    ]
    return "; ".join(found) or "nothing: every table holds all rows"
