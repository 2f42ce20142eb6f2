"""PolderCast with nodes that pass nothing on, or lie in gossip: what others miss, with and without repair by neighbours (OV-5)."""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from analytics.planning.report.chart import Axis, Series, chart
from analytics.report.plot import Plot

from ...simulator.counters import CONTROL, KINDS
from ...simulator.graphs.friends import friends
from ...simulator.harm import LIES, SHARES, Misdeed, misdeeds
from ...simulator.poldercast.options import SpreadOptions
from ...simulator.poldercast.overlay import PolderCastOverlay
from ...simulator.workload import OverlayWorkload
from ..study import OverlayStudy, StudyClaim, StudyResult, StudyScale, StudyTable

# Nodes, cycles before anybody does wrong, and cycles from then on.
_SIZES: Final[dict[StudyScale, tuple[int, int, int]]] = {"tiny": (200, 25, 10), "quick": (500, 40, 25), "full": (4_000, 70, 100)}
_DEAD: Final = 0.05
_REPAIRS: Final = (0, 1, 3)
_KINDS: Final = {
    "freeride": Misdeed.FREERIDES,
    "offer themselves": Misdeed.OFFERS_ITSELF,
    "offer the dead": Misdeed.OFFERS_THE_DEAD,
    "lie about ages": Misdeed.LIES_ABOUT_AGES,
    "tell all lies and freeride": LIES | Misdeed.FREERIDES,
}
_WORST: Final = "tell all lies and freeride"
_NOBODY: Final = "nobody does wrong"


class HarmPoint(NamedTuple):
    """The outcome of one share of wrongdoers.

    - `hits`: the share of deliveries to honest nodes that were made, for each number of repairs.
    - `held`: the share of entries that lead to wrongdoers in honest views of Cyclon, Vicinity and Rings.
    - `dead`: the share of entries of dead nodes in live views. `told`: control messages of repair for each delivery, by repairs.
    """

    kind: str
    share: float
    hits: tuple[float, ...]
    held: tuple[float, ...]
    dead: float
    told: tuple[float, ...]


def run(scale: StudyScale, seed: int, told: Callable[[str], None]) -> StudyResult:
    """Lets each kind of wrong be done by 10, 20 and 30 % of the nodes of a grown overlay, and publishes on each topic afterwards."""
    nodes, before, cycles = _SIZES[scale]
    workload = friends(nodes, seed).workload()
    found = [_point(workload, seed, _NOBODY, 0.0, Misdeed.NONE, before, cycles)]
    for kind, misdeed in _KINDS.items():
        for share in SHARES if scale != "tiny" else SHARES[-1:]:
            told(f"{share:.0%} {kind}")
            found.append(_point(workload, seed, kind, share, misdeed, before, cycles))
    return StudyResult(tables=[_table(found)], claims=claims(found, is_full=scale == "full"))


def plots(result: StudyResult) -> list[Plot]:
    """Returns the hit ratio and the share of views over the share of wrongdoers."""
    rows = [row for row in result.tables[0].rows if row[0] != _NOBODY]
    kinds = list(_KINDS)
    hits = [
        Series(f"{kind}, {_in_rounds(rounds)}", [(float(row[1]), float(row[2 + at])) for row in rows if row[0] == kind], style)
        for style, (kind, at, rounds) in enumerate(
            (kind, at, rounds) for kind in ("freeride", _WORST) for at, rounds in enumerate(_REPAIRS) if rounds in (0, _REPAIRS[-1])
        )
    ]
    held = [Series(kind, [(float(row[1]), float(row[7])) for row in rows if row[0] == kind], style) for style, kind in enumerate(kinds)]
    x = Axis("% of the nodes that do wrong", is_whole=True)
    return [
        chart("harm-hits", "Hit ratio of honest nodes", x, Axis("% of the deliveries"), hits),
        chart("harm-held", "Entries of Rings that lead to wrongdoers", x, Axis("% of the entries", least=0), held),
    ]


def _point(workload: OverlayWorkload, seed: int, kind: str, share: float, misdeed: Misdeed, before: int, cycles: int) -> HarmPoint:
    system = PolderCastOverlay(workload, seed)
    system.run(before)
    flags = misdeeds(workload.nodes, share, misdeed, seed)
    system.misbehave(flags)
    # Somebody has to die for the dead to be offered.
    dead = misdeeds(workload.nodes, _DEAD, Misdeed.FREERIDES, seed + 1) > 0
    system.leave(np.flatnonzero(dead).tolist())
    system.run(cycles)
    honest = (flags == 0) & ~dead
    hits, told = zip(*(_published(system, honest, rounds) for rounds in _REPAIRS), strict=True)
    held, buried = system.held(flags > 0), system.held(dead)
    return HarmPoint(kind, share, hits, tuple((held[:, 1] / held[:, 0]).tolist()), float(buried[:, 1].sum() / buried[:, 0].sum()), told)


def _published(system: PolderCastOverlay, honest: np.ndarray, rounds: int) -> tuple[float, float]:
    before = int(np.asarray(system.messages)[CONTROL::KINDS].sum())
    counts = system.publish_each(how=SpreadOptions(repairs=rounds))
    got, missed = int(np.asarray(counts.got)[honest].sum()), int(np.asarray(counts.missed)[honest].sum())
    told = int(np.asarray(system.messages)[CONTROL::KINDS].sum()) - before
    return got / max(1, got + missed), told / max(1, int(np.asarray(counts.got).sum()))


def _table(found: list[HarmPoint]) -> StudyTable:
    head = (
        "what they do",
        "share, %",
        *(f"hit ratio, {_in_rounds(rounds)}, %" for rounds in _REPAIRS),
        "of Cyclon, %",
        "of Vicinity, %",
        "of Rings, %",
        "dead entries, %",
        f"control messages of {_in_rounds(_REPAIRS[-1])} for a delivery",
    )
    return StudyTable(name="harm", head=head, rows=[_row(each) for each in found])


def _row(each: HarmPoint) -> tuple[float | str, ...]:
    return (each.kind, *(100 * value for value in (each.share, *each.hits, *each.held, each.dead)), each.told[-1])


def _in_rounds(rounds: int) -> str:
    return "no repair" if not rounds else "one round of repair" if rounds == 1 else f"{rounds} rounds of repair"


def claims(found: list[HarmPoint], *, is_full: bool) -> list[StudyClaim]:
    """Returns what is told of harm: nothing was published of it, and nothing is demanded but that it is told, and that repair helps."""
    return [_told(found, kind, is_full=is_full) for kind in ("freeride", _WORST)]


def _told(found: list[HarmPoint], kind: str, *, is_full: bool) -> StudyClaim:
    points = [each for each in found if each.kind == kind]
    measured = "; ".join(
        f"{100 * each.share:.0f} % of the nodes: {100 * each.hits[0]:.1f} % without, "
        f"{100 * each.hits[1]:.1f} and {100 * each.hits[-1]:.2f} % with 1 and {_REPAIRS[-1]} rounds, {100 * each.held[2]:.0f} % of Rings"
        for each in points
    )
    return StudyClaim(
        requirement="OV-5",
        published="nothing",
        demanded=f"hit ratio and share of views are told where nodes {kind}, and repair brings more",
        measured=measured,
        holds=all(each.hits[-1] > each.hits[0] for each in points) if is_full else None,
    )


HARM: Final = OverlayStudy("harm", "Nodes that do wrong", "", run, plots)
