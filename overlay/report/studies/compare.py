"""All overlays on one workload, beside each other: costs, milliseconds on real round trips, and what is missed when things go wrong."""

from collections.abc import Callable
from typing import Final

from analytics.report.plot import Plot

from ...simulator.graphs.friends import friends
from ...simulator.systems import SYSTEMS
from .. import comparison
from ..comparison import ComparedSystem, Conditions
from ..study import OverlayStudy, StudyClaim, StudyResult, StudyScale

_CONDITIONS: Final[dict[StudyScale, tuple[int, Conditions]]] = {
    "tiny": (200, Conditions(seed=0, settle=20, events=20, churn_cycles=3, harm_cycles=3)),
    "quick": (1000, Conditions(seed=0, settle=60, events=200, churn_cycles=30, harm_cycles=10)),
    "full": (10_000, Conditions(seed=0, events=2000)),
}


def run(scale: StudyScale, seed: int, told: Callable[[str], None]) -> StudyResult:
    """Compares all systems on friends."""
    nodes, conditions = _CONDITIONS[scale]
    workload = friends(nodes, seed).workload()
    with_seed = Conditions(**{name: getattr(conditions, name) for name in conditions.__struct_fields__} | {"seed": seed})
    found = [comparison.compare(name, workload, with_seed, told) for name in SYSTEMS]
    return StudyResult(tables=comparison.tables(found), claims=[claim(found, nodes)])


def plots(result: StudyResult) -> list[Plot]:
    """Returns a plot of missed deliveries and one for each network."""
    return comparison.plots({each.name: each for each in result.tables})


def claim(found: list[ComparedSystem], nodes: int) -> StudyClaim:
    """Returns the claim that all systems stand beside each other, with what each of them is best at."""
    best = {
        "fewest copies": min(found, key=lambda each: each.copies),
        "fewest control bytes": min(found, key=lambda each: each.control_bytes_s),
        "most reached under churn": max(found, key=lambda each: each.churn),
        "most reached with freeriders": max(found, key=lambda each: each.freeriders),
    }
    return StudyClaim(
        requirement="OV-4",
        published="",
        demanded="the same trace, churn, latencies and seeds for all systems",
        measured=f"{nodes:,} friends: {', '.join(f'{what}: {each.system}' for what, each in best.items())}",
        holds=None,
    )


COMPARE: Final = OverlayStudy("compare", "All overlays beside each other", "", run, plots)
