"""What Quasar's members get, from how far, and what that costs (quasar 4, figures 3 and 4)."""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import numpy as np

from analytics.planning.report.chart import Axis, Series, chart
from analytics.report.plot import Plot

from ...simulator.counters import KINDS as COUNTED
from ...simulator.quasar.overlay import QuasarOverlay
from ...simulator.quasar.runs import KINDS, SIZES, CoverageRun, GroupKind, coverage_runs, groups
from ...simulator.quasar.state import PAPER
from ...simulator.scribe.overlay import ScribeOverlay
from ..study import OverlayStudy, StudyClaim, StudyResult, StudyScale, StudyTable


class _Extent(NamedTuple):
    """The extent of a scale: the sizes of figures 3 and 4 and the runs of each point, the nodes of everything else and its runs."""

    sizes: tuple[int, ...]
    runs: int
    nodes: int
    fewer: int


_EXTENTS: Final[dict[StudyScale, _Extent]] = {
    "tiny": _Extent((256, 512), 4, 256, 4),
    "quick": _Extent(SIZES[:4], 20, 2048, 20),
    "full": _Extent(SIZES, 100, 4096, 100),
}
_NAMES: Final[dict[GroupKind, str]] = {"myspace": "sizes as on MySpace", "100": "100 members", "2%": "2 % of the nodes"}
_DEGREES: Final = (5, 6, 7, 8)
_LOADED: Final[tuple[GroupKind, ...]] = ("100", "myspace")
# So many ids are in a filter of the published size if one in 200 others seems to be in it, too.
_PUBLISHED_IDS: Final = 370
_POLLS: Final = 2
_MANY: Final = 10_000
_HEAD: Final = (
    "nodes", "groups", "coverage, %", "standard deviation", "farthest member, hops", "copies for each member reached", "false steps, %",
    "lost behind these", "farthest filters filled, %", "ids that fill them so",
)  # fmt: skip


def run(scale: StudyScale, seed: int, told: Callable[[str], None]) -> StudyResult:
    """Publishes in random graphs of several sizes, in groups of three kinds; then with other loads, without ids to avoid, with polls."""
    extent = _EXTENTS[scale]
    points: list[tuple[float | str, ...]] = []
    for nodes in extent.sizes:
        for kind in KINDS:
            told(f"{nodes:,} nodes, {_NAMES[kind]}")
            points.append(_point(nodes, _NAMES[kind], list(coverage_runs(nodes, kind, extent.runs, seed))))
    told("other loads, and other ways")
    loads = [
        _point(degree, _NAMES[kind], list(coverage_runs(extent.nodes, kind, extent.fewer, seed, degree=degree)))
        for kind in _LOADED
        for degree in _DEGREES
    ]
    tables = [
        StudyTable(name="coverage", head=_HEAD, rows=points),
        StudyTable(name="loads", head=("neighbours", *_HEAD[1:]), rows=loads),
        _ways(extent, seed),
        _hotspots(extent, seed),
        _state(extent, seed),
    ]
    return StudyResult(tables=tables, claims=claims(tables, is_full=scale == "full"))


def _point(first: int, kind: str, runs: list[CoverageRun]) -> tuple[float | str, ...]:
    """Returns a row: the means of the runs."""
    coverage = [run.coverage for run in runs]
    trails, fill = sum(run.trails for run in runs), float(np.mean([run.fill for run in runs]))
    return (
        first,
        kind,
        100 * float(np.mean(coverage)),
        100 * float(np.std(coverage)),
        float(np.mean([run.farthest for run in runs])),
        sum(run.messages for run in runs) / sum(run.reached for run in runs),
        100 * sum(run.false_trails for run in runs) / max(1, trails),
        sum(run.false_lost for run in runs),
        100 * fill,
        _ids(fill),
    )


def _ids(fill: float) -> float:
    """Returns how many ids fill a filter of the published size to this share."""
    return float(-PAPER.filter_bytes * 8 / PAPER.hashes * np.log1p(-min(fill, 1 - 1e-9)))


def _ways(extent: _Extent, seed: int) -> StudyTable:
    """Returns what ids to avoid, and polls, are worth to groups of 100."""
    usual = list(coverage_runs(extent.nodes, "100", extent.fewer, seed))
    blind = list(coverage_runs(extent.nodes, "100", extent.fewer, seed, PAPER._replace(avoids=False)))
    polled = list(coverage_runs(extent.nodes, "100", extent.fewer, seed, polls=_POLLS))
    rows: list[tuple[float | str, ...]] = []
    for name, runs in (("as published", usual), ("without ids to avoid", blind), (f"with {_POLLS} rounds of polls", polled)):
        members = sum(run.members for run in runs)
        coverage = 100 * float(np.mean([run.coverage for run in runs]))
        rows.append((name, coverage, sum(run.messages for run in runs) / members, sum(run.poll_steps for run in runs) / members))
    return StudyTable(name="ways", head=("how", "coverage, %", "copies for each member", "steps of polls for each member"), rows=rows)


def _hotspots(extent: _Extent, seed: int) -> StudyTable:
    """Returns how much the busiest node handles of events of 20 groups, beside the same events in Scribe."""
    workload = groups(extent.nodes, [min(100, extent.nodes // 4)] * 20, seed)
    quasar = QuasarOverlay(workload, seed)
    for _ in range(PAPER.depth + 1):
        quasar.cycle()
    rows: list[tuple[float | str, ...]] = []
    for name, system in (("quasar", quasar), ("scribe", ScribeOverlay(workload, seed))):
        before = _handled(system)
        for topic in range(workload.topics):
            for publisher in system.members(topic)[:10]:
                system.publish(topic, publisher)
        handled = _handled(system) - before
        rows.append((name, float(handled.mean()), float(handled.max()), float(handled.max() / handled.mean())))
    return StudyTable(name="hotspots", head=("system", "messages of a node, mean", "of the busiest", "busiest / mean"), rows=rows)


def _handled(system: QuasarOverlay | ScribeOverlay) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Returns how many messages with events each node has received."""
    found: np.ndarray[tuple[int, ...], np.dtype[np.int64]] = np.array(system.messages).reshape(-1, COUNTED)[:, 1:].sum(1)
    return found


def _state(extent: _Extent, seed: int) -> StudyTable:
    """Returns the bytes of filters of the node with the most neighbours, for few groups and for many."""
    rows: list[tuple[float | str, ...]] = []
    for count in (10, _MANY):
        system = QuasarOverlay(groups(extent.nodes, [2] * count, seed), seed)
        rows.append((count, system.filter_bytes_of_a_node))
    return StudyTable(name="state", head=("groups", "bytes of filters"), rows=rows)


def claims(tables: list[StudyTable], *, is_full: bool) -> list[StudyClaim]:
    """Returns what is claimed, of the tables that `run` makes. Small systems are told only."""
    by_name = {each.name: _numbers(each) for each in tables}
    points, kinds = by_name["coverage"], [str(row[1]) for row in tables[0].rows]
    by_kind = {name: [row for row, kind in zip(points, kinds, strict=True) if kind == name] for name in _NAMES.values()}
    ways, loads, hotspots, state = by_name["ways"], by_name["loads"], by_name["hotspots"], by_name["state"]
    return [
        *_coverage(by_kind, is_full=is_full),
        _distance(by_kind[_NAMES["100"]], is_full=is_full),
        _claim(
            "P2P-41", "negative information is needed", "coverage at most 10 % without it",
            f"{ways[1][1]:.1f} %", ways[1][1] <= 10, is_full,
        ),
        _claim(
            "P2P-42", "at most 22 kB of filters in a node", "at most 22 kB",
            f"{state[0][1]:,.0f} bytes", state[0][1] <= 22 * 1024, True,
        ),
        _false_steps(by_kind, loads, is_full=is_full),
        _claim(
            "P2P-45", "state does not depend on the number of groups", f"the same bytes for 10 groups and for {_MANY:,}",
            f"{state[0][1]:,.0f} and {state[1][1]:,.0f} bytes", state[0][1] == state[1][1], True,
        ),
        _claim(
            "P2P-46", "there is no hotspot", "busiest at most 10 times the mean, and below Scribe's",
            f"{hotspots[0][3]:.1f} times; Scribe {hotspots[1][3]:.1f} times",
            hotspots[0][3] <= 10 and hotspots[0][3] < hotspots[1][3], is_full,
        ),
        _claim(
            "P2P-47", "some polling would lift coverage to 100 %", "99.9 % or more, with its cost",
            f"{ways[2][1]:.2f} % with {_POLLS} rounds of polls, of {ways[2][3]:.1f} steps for each member", ways[2][1] >= 99.9, is_full,
        ),
    ]  # fmt: skip


def _claim(requirement: str, published: str, demanded: str, measured: str, holds: bool, is_judged: bool, why: str = "") -> StudyClaim:
    return StudyClaim(
        requirement=requirement,
        published=published,
        demanded=demanded,
        measured=measured,
        holds=bool(holds) if is_judged else None,
        why=why,
    )


def _coverage(by_kind: dict[str, list[list[float]]], *, is_full: bool) -> list[StudyClaim]:
    myspace, hundred, share = (by_kind[name] for name in _NAMES.values())
    means = [row[2] for row in myspace]
    others = [row[2] for row in (*hundred, *share)]
    falls = share[-1][3] < share[0][3]
    return [
        _claim(
            "P2P-38", "over 97 % (figure), over 95 % (summary), whatever the size", "95 % or more, within 3 points over sizes",
            f"{min(means):.1f} to {max(means):.1f} %", min(means) >= 95 and max(means) - min(means) <= 3, is_full,
        ),
        _claim(
            "P2P-39", "about 97 %, and runs differ less the larger groups are", "95 % or more; the standard deviation falls",
            f"{min(others):.1f} to {max(others):.1f} %; standard deviation of groups of 2 % from {share[0][3]:.2f} to {share[-1][3]:.2f}",
            min(others) >= 95 and falls, is_full,
        ),
    ]  # fmt: skip


def _distance(rows: list[list[float]], *, is_full: bool) -> StudyClaim:
    sizes, hops = np.log2([row[0] for row in rows]), np.array([row[4] for row in rows])
    slope, start = np.polyfit(sizes, hops, 1)
    away = float(np.abs(hops - (slope * sizes + start)).max())
    return _claim(
        "P2P-40",
        "15 to 24 hops, growing with the logarithm of the number of nodes",
        "9 to 30 hops, on a line over the logarithm",
        f"{hops.min():.1f} to {hops.max():.1f} hops, {slope:.2f} more for each doubling, at most {away:.1f} off that line",
        bool(hops.min() >= 9 and hops.max() <= 30 and slope > 0 and away <= 1.5),
        is_full,
    )


def _false_steps(by_kind: dict[str, list[list[float]]], loads: list[list[float]], *, is_full: bool) -> StudyClaim:
    within = [row for row in loads if row[9] <= _PUBLISHED_IDS]
    worst, lost = max((row[6] for row in within), default=0.0), sum(row[7] for row in within)
    parts = [loads[: len(_DEGREES)], loads[len(_DEGREES) :]]
    told = [", ".join(f"{row[6]:.2f} % with {row[9]:.0f} ids" for row in part) for part in parts]
    every = [row for rows in by_kind.values() for row in rows]
    shares = [row[6] for row in every]
    return _claim(
        "P2P-43",
        "0.5 % of steps are false, each of them repaired at the next hop",
        f"at most 0.5 % of directed steps while levels hold at most {_PUBLISHED_IDS} ids, none lost; told at every load",
        f"groups of 100: {told[0]}; sizes as on MySpace: {told[1]}; lost up to {_PUBLISHED_IDS} ids: {lost:.0f}. In figures 3 and 4: "
        f"{min(shares):.2f} to {max(shares):.2f} %, and {sum(row[7] for row in every):.0f} messages whose ttl ended behind a false step",
        bool(within) and worst <= 0.5 and lost == 0,
        is_full,
        "a node with 8 neighbours in the mean has more ids within three steps than 512 bytes were made for, and in groups of few members "
        "there are few true trails beside the false ones",
    )


def _numbers(table: StudyTable) -> list[list[float]]:
    """Returns the rows; words are 0."""
    return [[0.0 if isinstance(cell, str) else float(cell) for cell in row] for row in table.rows]


def plots(result: StudyResult) -> list[Plot]:
    """Returns Quasar's figures 3 and 4, and how false steps grow with what filters hold."""
    table = result.table("coverage")
    ticks = tuple(sorted({float(row[0]) for row in table.rows}))
    nodes = Axis("nodes", is_log=True, ticks=ticks)
    coverage = [Series(name, _line(table.rows, name, 2), style) for style, name in enumerate(_NAMES.values())]
    coverage.append(Series("published: 97 %", [(each, 97.0) for each in ticks], 3, "published"))
    hops = [
        Series("groups of 100", _line(table.rows, _NAMES["100"], 4), 0),
        Series("published: 15 to 24", [(1024, 15), (32_768, 24)], 3, "published"),
    ]
    loads = [
        Series(name, [(float(row[9]), float(row[6])) for row in result.table("loads").rows if row[1] == name], style)
        for style, name in enumerate(_NAMES[kind] for kind in _LOADED)
    ]
    return [
        chart("quasar-coverage", "Members reached", nodes, Axis("coverage, %"), coverage, ("Figure 3.",)),
        chart("quasar-farthest", "Farthest member", nodes, Axis("hops", least=0), hops, ("Figure 4.",)),
        chart(
            "quasar-loads",
            "False steps by load",
            Axis("ids in the farthest filters"),
            Axis("false steps, %", least=0),
            [*loads, Series("published: 0.5 %", [(_PUBLISHED_IDS, 0.5)], 3, "published")],
        ),
    ]


def _line(rows: Iterable[tuple[float | str, ...]], kind: str, column: int) -> list[tuple[float, float]]:
    return [(float(row[0]), float(row[column])) for row in rows if row[1] == kind]


QUASAR: Final = OverlayStudy("quasar", "Quasar: members reached, and how far away they are", "Quasar figures 3 and 4", run, plots)
