"""GossipSub in the setting of its own designer: messages for each delivery, and how long deliveries take (OV-3)."""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from analytics.planning.report.chart import Axis, Series, chart
from analytics.report.plot import Plot

from ...simulator.gossipsub.designer import AS_SIMULATED, V1_0, V1_1, DesignerRun, designer_run
from ...simulator.gossipsub.options import GossipSubOptions
from ...simulator.gossipsub.state import GRAFT, IHAVE, IWANT, PRUNE
from ..study import OverlayStudy, StudyClaim, StudyResult, StudyScale, StudyTable

_VERSIONS: Final[dict[str, GossipSubOptions]] = {"v1.0": V1_0, "v1.1": V1_1, "v1.1-as-simulated": AS_SIMULATED}
# Nodes, messages, and runs of each version.
_SIZES: Final[dict[StudyScale, tuple[int, int, int]]] = {"tiny": (60, 5, 1), "quick": (1000, 60, 3), "full": (1000, 60, 30)}
# Of the designer's simulator, with 1,000 nodes: copies for each delivery, and percent of deliveries within so many milliseconds.
_COPIES: Final = {"v1.0": 6.29, "v1.1": 6.37, "v1.1-as-simulated": 6.37}
_WITHIN: Final = {200: 37.0, 300: 97.9}
_STEP_MS: Final = 20
_MOST_MS: Final = 600


class GossipFigures(NamedTuple):
    """The runs of a version: the mean of each number, and `spread`, the standard deviation of the share within 200 ms between runs."""

    name: str
    delivered: float
    copies: float
    within: dict[int, float]
    spread: float
    mesh: float
    sent: list[float]
    latencies: list[tuple[float, float]]


def run(scale: StudyScale, seed: int, told: Callable[[str], None]) -> StudyResult:
    """Runs the setting for each version, with several seeds."""
    nodes, messages, runs = _SIZES[scale]
    found = []
    for name, options in _VERSIONS.items():
        told(f"{name}: {runs} runs of {nodes:,} nodes")
        each = [designer_run(options, seed + number, nodes=nodes, messages=messages) for number in range(runs)]
        found.append(figures(name, each, nodes * messages))
    head = ("version", "delivered, %", "copies for each delivery", "published", "within 200 ms, %", "its standard deviation")
    more = ("within 300 ms, %", "mean mesh", "GRAFT", "PRUNE", "IHAVE", "IWANT")
    summary = StudyTable(name="summary", head=(*head, *more), rows=[_row(each) for each in found])
    tables = [StudyTable(name=f"latency-{_slug(each.name)}", head=("ms", "delivered, %"), rows=list(each.latencies)) for each in found]
    return StudyResult(tables=[summary, *tables], claims=claims(found, is_full=scale == "full"))


def figures(name: str, runs: list[DesignerRun], wanted: int) -> GossipFigures:
    """Returns the means of some runs, each of which was to make so many deliveries."""
    shares = [each.share_within(200) for each in runs]
    curve = [(float(ms), 100 * _mean([each.share_within(ms) for each in runs])) for ms in range(0, _MOST_MS + 1, _STEP_MS)]
    return GossipFigures(
        name=name,
        delivered=100 * _mean([each.deliveries / wanted for each in runs]),
        copies=_mean([each.copies_per_delivery for each in runs]),
        within={ms: 100 * _mean([each.share_within(ms) for each in runs]) for ms in _WITHIN},
        spread=100 * float(np.std(shares)),
        mesh=_mean([each.mesh_size for each in runs]),
        sent=[_mean([each.sent[kind] for each in runs]) for kind in range(len(runs[0].sent))],
        latencies=curve,
    )


def claims(found: list[GossipFigures], *, is_full: bool) -> list[StudyClaim]:
    """Returns what OV-3 demands of v1.0 and v1.1, judged at full size."""
    by_name = {each.name: each for each in found}
    old = by_name["v1.0"]
    made = [
        StudyClaim(
            requirement="OV-3",
            published=f"{_COPIES[name]:.2f} messages for each delivery ({name}, designer's simulator)",
            demanded="everything is delivered, and the number is within 5 %",
            measured=f"{each.delivered:.2f} % delivered, {each.copies:.2f}; v1.1 as simulated {by_name['v1.1-as-simulated'].copies:.2f}",
            holds=(each.delivered == 100 and abs(each.copies / _COPIES[name] - 1) <= 0.05) if is_full else None,
            why="the designer's v1.1 has no quota of outbound peers, which makes meshes larger" if name == "v1.1" else "",
        )
        for name, each in by_name.items()
        if name != "v1.1-as-simulated"
    ]
    made.append(
        StudyClaim(
            requirement="OV-3",
            published="v1.0: 37 % of the deliveries within 200 ms, 97.9 % within 300 ms",
            demanded="within 5 points, as the mean of all runs",
            measured=f"{old.within[200]:.1f} % and {old.within[300]:.1f} %; single runs differ by {old.spread:.1f} points (200 ms)",
            holds=all(abs(old.within[ms] - share) <= 5 for ms, share in _WITHIN.items()) if is_full else None,
            why="a run has five sources, and how long the links of these five are decides much",
        )
    )
    return made


def plots(result: StudyResult) -> list[Plot]:
    """Returns the distribution of latencies, with what was published of v1.0 as marks."""
    series = [
        Series(table.name.removeprefix("latency-"), [(float(row[0]), float(row[1])) for row in table.rows], style)
        for style, table in enumerate(result.tables[1:])
    ]
    series.append(Series("published, v1.0", [(float(ms), share) for ms, share in _WITHIN.items()], 0, "published"))
    title = "GossipSub: deliveries within a time"
    return [chart("gossipsub-latency", title, Axis("ms after publishing"), Axis("delivered, %"), series, (f"{title}.",))]


def _row(each: GossipFigures) -> tuple[float | str, ...]:
    control = [each.sent[kind] for kind in (GRAFT, PRUNE, IHAVE, IWANT)]
    shown = (each.delivered, each.copies, _COPIES[each.name], each.within[200], each.spread, each.within[300], each.mesh)
    return (each.name, *shown, *control)


def _slug(name: str) -> str:
    return name.replace(".", "-")


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


GOSSIPSUB: Final = OverlayStudy("gossipsub", "GossipSub beside its designer's simulator", "gerbil-simsub, runs of 1,000 nodes", run, plots)
