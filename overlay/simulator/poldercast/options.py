"""The settings of PolderCast, with the defaults of its authors (PC 6)."""

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from ...protocol.spread import MIXED, UNION
from ...protocol.view import MODULE, OWN, SHARED
from ..errors import OverlayError

Ages = Literal["own", "module", "shared"]
Proximity = Literal["highest", "sum"]
Mode = Literal["mixed", "union"]
Priorities = Literal["now", "then"]
Sources = Literal["both", "cyclon", "vicinity", "none"]

_AGES: Final[dict[str, int]] = {"own": OWN, "module": MODULE, "shared": SHARED}
_MODES: Final[dict[str, int]] = {"mixed": MIXED, "union": UNION}
# With `then`, priorities are remembered for so many cycles; older copies have those of the oldest cycle that is remembered.
_REMEMBERED: Final = 64
_SOURCES: Final[dict[str, tuple[int, int]]] = {"both": (1, 1), "cyclon": (1, 0), "vicinity": (0, 1), "none": (0, 0)}


class PolderSettings(NamedTuple):
    """The settings as numbers, for kernels."""

    ring: int
    vicinity: int
    cyclon: int
    ring_gossip: int
    vicinity_gossip: int
    cyclon_gossip: int
    ages: int
    summed: int
    layered: int
    remembered: int
    announced: int


class SpreadSettings(NamedTuple):
    """The way events spread, as numbers for kernels. `from_cyclon` and `from_vicinity` say whether random links come from these views."""

    fanout: int
    mode: int
    from_cyclon: int
    from_vicinity: int
    repairs: int
    notices: int


@dataclass(frozen=True, kw_only=True)
class PolderOptions:
    """The options of PolderCast.

    - `ring`: neighbours of each topic, half of them above and half below; `vicinity`, `cyclon`: sizes of these views.
    - `…_gossip`: the most entries of a message of each module, besides the sender's own profile in Rings and Vicinity.
    - `ages`: who may make an entry younger (`overlay/protocol/view.py`). `proximity`: what of the shared topics' priorities counts.
    - `with_vicinity`: without it, only Cyclon feeds the rings.
    - `priorities`: what a node believes of another one's priorities: those of `then`, when the copy of its profile was made, or those that
      it has `now`, which is faster and gives rings as soon.
    - `announces`: a node with new topics tells those in its rings at once, which its authors do not have (P2P-32).

    Raises OverlayError for sizes that do not fit each other.
    """

    ring: int = 4
    vicinity: int = 20
    cyclon: int = 20
    ring_gossip: int = 10
    vicinity_gossip: int = 10
    cyclon_gossip: int = 10
    ages: Ages = "own"
    proximity: Proximity = "highest"
    with_vicinity: bool = True
    priorities: Priorities = "now"
    announces: bool = False

    def __post_init__(self) -> None:
        if self.ring < 2 or self.ring % 2:
            raise OverlayError(f"ring is {self.ring}: half of the neighbours have higher ids and half lower, so give 2, 4, 6, …")
        if self.ring_gossip < 1:
            raise OverlayError(f"ring_gossip is {self.ring_gossip}: a message needs room for an entry, so give 1 or more")
        for name, view, gossip in (("vicinity", self.vicinity, self.vicinity_gossip), ("cyclon", self.cyclon, self.cyclon_gossip)):
            if not 1 <= gossip <= view:
                raise OverlayError(f"{name}_gossip is {gossip}, and the view has {view}: give 1 to {view}, or a larger view")

    def settings(self) -> PolderSettings:
        """Returns the same as numbers."""
        return PolderSettings(
            ring=self.ring,
            vicinity=self.vicinity,
            cyclon=self.cyclon,
            ring_gossip=self.ring_gossip,
            vicinity_gossip=self.vicinity_gossip,
            cyclon_gossip=self.cyclon_gossip,
            ages=_AGES[self.ages],
            summed=int(self.proximity == "sum"),
            layered=int(self.with_vicinity),
            remembered=_REMEMBERED if self.priorities == "then" else 0,
            announced=int(self.announces),
        )


@dataclass(frozen=True, kw_only=True)
class SpreadOptions:
    """The options of an event: to how many each node sends it (`fanout`), and where random links come from.

    - `repairs`: so many rounds of repair by neighbours follow (`overlay/protocol/repair.py`).
    - `notices`: who sends to a dead ring neighbour notices that, as over TCP, and sends to the next stand-by instead.

    Raises OverlayError for a fanout below 2, and for rounds below 0.
    """

    fanout: int = 2
    mode: Mode = "mixed"
    sources: Sources = "both"
    repairs: int = 0
    notices: bool = False

    def __post_init__(self) -> None:
        if self.fanout < 2:
            raise OverlayError(f"fanout is {self.fanout}: both ring neighbours get an event, so give 2 or more")
        if self.repairs < 0:
            raise OverlayError(f"repairs is {self.repairs}: give the rounds of repair that follow an event, 0 for none")

    def settings(self) -> SpreadSettings:
        """Returns the same as numbers."""
        cyclon, vicinity = _SOURCES[self.sources]
        return SpreadSettings(
            fanout=self.fanout,
            mode=_MODES[self.mode],
            from_cyclon=cyclon,
            from_vicinity=vicinity,
            repairs=self.repairs,
            notices=int(self.notices),
        )
