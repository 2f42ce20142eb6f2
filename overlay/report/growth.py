"""An overlay of PolderCast that is let grow until its rings are complete, or complete enough, for studies that begin there."""

from collections.abc import Callable

from ..simulator.poldercast.overlay import PolderCastOverlay

# At this share of incomplete rings an overlay counts as grown, as in the paper (PC 6.2).
FEW: float = 0.01


def cycles_until(system: PolderCastOverlay, incomplete: float, most: int, told: Callable[[str], None]) -> int | None:
    """Runs cycles until no more than the share `incomplete` of the rings lacks a link. Returns how many, None if `most` were not enough."""
    for cycle in range(most + 1):
        share = system.rings().incomplete_share
        if share <= incomplete:
            return cycle
        if cycle < most:
            told(f"cycle {cycle}, {share:.1%} of the rings are incomplete")
            system.cycle()
    return None


def in_words(cycles: int | None) -> str:
    """Returns a number of cycles, or that it is not known."""
    return "not reached" if cycles is None else f"{cycles} cycles"
