"""Parting: a broker records topics that have gone to others for as long as their followers may lack something of it (DPS-13).

It parts from them when the others have all of it, and nothing comes here any more that followers of it lack. It does not wait for ever.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from infra.kernel.announcer import PARTING_BEATS
from infra.kernel.move_pace import UNAWAITED_S, MovePace, has_time
from infra.kernel.ring import Ring

from .mesh import Mesh
from .moving import TopicMoves
from .subscribers import Subscribers

# How long to pause for each topic that another broker records by now.
PARTED_PAUSE_S: Final = 60e-6


class Parting:
    """The topics that have gone from this broker to others, and are still served and recorded here.

    - `moves`: tells whether anything is on its way. `mesh`: which brokers have what has come to them.
    - `subscribers()`: returns those who subscribe, who part from former owners, too.
    - `spawn`: does work in turns.
    """

    def __init__(
        self, mesh: Mesh, moves: TopicMoves, subscribers: Callable[[], Subscribers], spawn: Callable[[Iterator[float]], None]
    ) -> None:
        self._mesh, self._moves, self._subscribers, self._spawn = mesh, moves, subscribers, spawn
        # To whom topics have gone, and for how many heartbeats that has been so.
        self._gone_to: set[str] = set()
        self._beats = 0
        self._is_going_on = self._has_time = False

    @property
    def is_over(self) -> bool:
        """Whether nothing is here that has gone to others."""
        return not self._gone_to

    def begin(self, before: Ring, after: Ring) -> None:
        """Notes that another view holds, whose ring is `after`: what followers say of earlier ones counts no more."""
        self._beats, self._has_time = 0, has_time(before, after)

    def gone_to(self, slots: Iterable[str]) -> None:
        """Notes that topics go to the brokers `slots`."""
        self._gone_to.update(slots)

    def tick(self) -> None:
        """Counts a heartbeat, and parts if that may be."""
        self._beats += 1
        self.go_on()

    def done(self) -> bool:
        """Parts if that may be. Returns whether nothing is left to part from."""
        self.go_on()
        return self.is_over

    def go_on(self) -> None:
        """Records no more what is others' by now, when they have all of it, and nothing comes here any more that followers of it lack."""
        if self._gone_to and not self._is_going_on and self._moves.is_over and (self._beats > PARTING_BEATS or self._may_part()):
            self._is_going_on = True
            self._spawn(self._part())

    def _may_part(self) -> bool:
        return self._mesh.have_taken(self._gone_to) and self._subscribers().have_settled()

    def _part(self) -> Iterator[float]:
        view, pace = self._mesh.view, MovePace(PARTED_PAUSE_S, UNAWAITED_S if self._has_time else 0.0)
        for topics in self._subscribers().hand_over():
            yield pace.after(topics)
        self._is_going_on = False
        if self._mesh.view == view:  # else more goes to others
            self._gone_to.clear()
            self._subscribers().settle()
