"""How fast the rings of PolderCast grow from a cold start, and what events reach meanwhile (PC 6.2)."""

from collections.abc import Callable, Iterable
from typing import Final

from analytics.planning.report.chart import Axis, Series, chart
from analytics.report.plot import Plot

from ...simulator.graphs.followers import followers
from ...simulator.graphs.friends import friends
from ...simulator.graphs.reading import carried
from ...simulator.poldercast.options import PolderOptions, SpreadOptions
from ...simulator.workload import OverlayWorkload
from ..convergence import HEAD, LINES, ConvergenceStudy, converge, rows
from ..study import OverlayStudy, StudyClaim, StudyResult, StudyScale, StudyTable

_WITHOUT: Final = "without-vicinity"
_FRIENDS: Final = "friends"
# Nodes, and the most cycles with Vicinity and without.
_SIZES: Final[dict[StudyScale, tuple[int, int, int]]] = {"tiny": (200, 60, 100), "quick": (1000, 120, 400), "full": (10_000, 200, 600)}
_ACCEPTED: Final = 80


def run(scale: StudyScale, seed: int, told: Callable[[str], None]) -> StudyResult:
    """Lets rings grow on friends with and without Vicinity, and at full size also on followers and on Facebook's circles."""
    nodes, cycles, without = _SIZES[scale]
    circle = friends(nodes, seed).workload()
    found = [_grown(_FRIENDS, circle, seed, cycles, told)]
    found.append(_grown(_WITHOUT, circle, seed, without, told, with_vicinity=False))
    if scale == "full":
        found.append(_grown("followers", followers(nodes, seed).workload(), seed, cycles, told))
        found.append(_grown("facebook", carried("facebook").workload(), seed, cycles, told))
    return StudyResult(tables=[_summary(found), *map(_table, found)], claims=claims(found, is_full=scale == "full"))


def plots(result: StudyResult) -> list[Plot]:
    """Returns a plot of the four shares for each workload, and one of incomplete rings that holds all of them beside each other."""
    grown = result.tables[1:]
    together = [Series(each.name, _line(each.rows, 2), style) for style, each in enumerate(grown)]
    together.append(Series("published: 99 % are complete", [(60, 1)], 0, "published"))
    all_rings = chart("convergence", "Incomplete rings", Axis("cycles", is_whole=True), Axis("incomplete rings, %", is_log=True), together)
    return [all_rings, *(_plot(each) for each in grown)]


def _grown(
    name: str, workload: OverlayWorkload, seed: int, cycles: int, told: Callable[[str], None], *, with_vicinity: bool = True
) -> ConvergenceStudy:
    return converge(
        name,
        workload,
        seed,
        options=PolderOptions(with_vicinity=with_vicinity),
        how=SpreadOptions(),
        cycles=cycles,
        told=lambda cycle, point: told(f"{name}: cycle {cycle}, {point.incomplete_rings:.1%} of the rings are incomplete"),
    )


def _summary(found: Iterable[ConvergenceStudy]) -> StudyTable:
    head = ("workload", "nodes", "topics", "pairs", "cycles until 99 % of the rings are complete", "cycles run", "missed then, %")
    return StudyTable(
        name="summary",
        head=head,
        rows=[
            (each.name, each.nodes, each.topics, each.pairs, _or_never(each.converged_at), each.points[-1].cycle, _missed(each))
            for each in found
        ],
    )


def _or_never(cycle: int | None) -> float | str:
    return "not yet" if cycle is None else cycle


def _missed(study: ConvergenceStudy) -> float | str:
    return "not yet" if study.converged_at is None else 100 * study.points[study.converged_at].missed_deliveries


def _table(study: ConvergenceStudy) -> StudyTable:
    return StudyTable(name=study.name, head=HEAD, rows=[tuple(row) for row in rows(study)])


def _line(found: Iterable[tuple[float | str, ...]], column: int) -> list[tuple[float, float]]:
    # A share of 0 has no place on a logarithmic axis: its line ends before it.
    return [(float(row[0]), float(row[column])) for row in found if float(row[column]) > 0]


def _plot(table: StudyTable) -> Plot:
    series = [Series(line, _line(table.rows, at), at - 1) for at, line in enumerate(LINES, 1)]
    title = f"Convergence, {table.name}"
    return chart(f"convergence-{table.name}", title, Axis("cycles", is_whole=True), Axis("%", is_log=True), series)


def claims(found: list[ConvergenceStudy], *, is_full: bool) -> list[StudyClaim]:
    """Returns what is claimed of friends. Elsewhere than at full size it is only told how many cycles it takes."""
    usual, without, *others = found
    at, bound = usual.converged_at, without.converged_at or without.points[-1].cycle
    told = [f"{each.name} {_or_never(each.converged_at)}" for each in (usual, *others)]
    reached = next((point.cycle for point in usual.points if point.missed_deliveries == 0), None)
    complete = next((point.cycle for point in usual.points if point.incomplete_rings == 0), None)
    share = _missed(usual)
    return [
        StudyClaim(
            requirement="P2P-18",
            published="99 % of the rings are complete within 60 cycles (10,000 nodes)",
            demanded=f"at most {_ACCEPTED} cycles on friends, aim 60; told elsewhere",
            measured=f"cycles with {usual.nodes:,} nodes: {', '.join(told)}",
            holds=at is not None and at <= _ACCEPTED if is_full else None,
            why="the graphs are others than the paper's: the tail is made of nodes with more than 64 topics, which have most rings to find",
        ),
        StudyClaim(
            requirement="P2P-19",
            published="events reach everybody before all rings are complete",
            demanded="no miss before the last ring is complete, and at most 0.1 % missed with 1 % of the rings incomplete",
            measured=f"no miss at cycle {_or_never(reached)}, all rings at cycle {_or_never(complete)}; {_percent(share)} missed at 1 %",
            holds=_is_early(reached, complete, share) if is_full else None,
            why="the last rings are of topics with two or three subscribers, who share nothing else: until they know each other no event "
            "of one comes to the other, so the last missing link and the last miss end together",
        ),
        StudyClaim(
            requirement="P2P-20",
            published="without Vicinity it takes 3 to 6 times as long",
            demanded="3 times or more",
            measured=f"{'' if without.converged_at else 'more than '}{bound / at:.1f} times ({bound} cycles)" if at else "not converged",
            holds=at is not None and bound >= 3 * at if is_full else None,
        ),
    ]


def _is_early(reached: int | None, complete: int | None, share: float | str) -> bool:
    return reached is not None and complete is not None and reached < complete and isinstance(share, float) and share <= 0.1


def _percent(share: float | str) -> str:
    return f"{share:.3f} %" if isinstance(share, float) else "not yet known"


CONVERGENCE: Final = OverlayStudy("convergence", "Convergence of rings", "PolderCast figure 5, thesis figure 3.5", run, plots)
