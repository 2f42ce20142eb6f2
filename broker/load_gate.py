"""Load gate: whether a link to another site has more to do than it can, as a table of states. Pure.

Load is the worse of two shares: what waits on the link, of what may wait there, and how late the loop is, of how late it may be. Below
`HIGH` nothing happens. From there on presence is held, until load is below `LOW`: between the two the state stays as it is.
"""

from enum import Enum
from typing import Final

HIGH: Final = 0.6
LOW: Final = 0.4


class LoadState(Enum):
    """The states of a link: its presence goes at once, or it is held."""

    DIRECT = "direct"
    HOLDING = "holding"


class LoadLevel(Enum):
    """The levels of load that make a difference."""

    LOW = "low"
    MIDDLE = "middle"
    HIGH = "high"


STEPS: Final = {
    (LoadState.DIRECT, LoadLevel.LOW): LoadState.DIRECT,
    (LoadState.DIRECT, LoadLevel.MIDDLE): LoadState.DIRECT,
    (LoadState.DIRECT, LoadLevel.HIGH): LoadState.HOLDING,
    (LoadState.HOLDING, LoadLevel.LOW): LoadState.DIRECT,
    (LoadState.HOLDING, LoadLevel.MIDDLE): LoadState.HOLDING,
    (LoadState.HOLDING, LoadLevel.HIGH): LoadState.HOLDING,
}


def level(load: float) -> LoadLevel:
    """Returns the level of a load, 1.0 being all that can be done."""
    if load >= HIGH:
        return LoadLevel.HIGH
    return LoadLevel.LOW if load < LOW else LoadLevel.MIDDLE


class LoadGate:
    """The state of one link; `state` begins as direct."""

    def __init__(self) -> None:
        self.state = LoadState.DIRECT

    def observe(self, load: float) -> None:
        """Takes the load of now."""
        self.state = STEPS[self.state, level(load)]
