"""All simulated overlays by name, each with the settings of its authors: for commands, comparisons and the contract of all."""

from collections.abc import Callable
from typing import Final, Protocol

from .compiled import COMPILED, Execution
from .errors import OverlayError
from .gossipsub.overlay import GossipSubOverlay
from .poldercast.overlay import PolderCastOverlay
from .quasar.overlay import QuasarOverlay
from .scribe.overlay import ScribeOverlay
from .system import OverlaySystem
from .workload import OverlayWorkload


class WatchedSystem(OverlaySystem, Protocol):
    """An overlay that also says who is to get an event, for those who watch it from outside."""

    def members(self, topic: int) -> list[int]:
        """Returns the live subscribers of `topic`."""


_MADE: Final[dict[str, Callable[[OverlayWorkload, int, Execution], WatchedSystem]]] = {
    "poldercast": lambda workload, seed, execution: PolderCastOverlay(workload, seed, execution=execution),
    "scribe": lambda workload, seed, execution: ScribeOverlay(workload, seed, execution=execution),
    "quasar": lambda workload, seed, execution: QuasarOverlay(workload, seed, execution=execution),
    "gossipsub": lambda workload, seed, execution: GossipSubOverlay(workload, seed, execution=execution),
}
SYSTEMS: Final = tuple(_MADE)


def new_system(name: str, workload: OverlayWorkload, seed: int, execution: Execution = COMPILED) -> WatchedSystem:
    """Returns the overlay of this name, one of SYSTEMS, in the state in which it begins. Everything random follows from `seed`.

    Raises OverlayError for a name that is none.
    """
    if name not in _MADE:
        raise OverlayError(f"there is no overlay {name!r}; say {', '.join(SYSTEMS)}")
    return _MADE[name](workload, seed, execution)
