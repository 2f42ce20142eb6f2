"""The broker's side of offloading (see `Offloader`): it tells how many events topics had, and delivers no more of those that are out."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from infra.kernel import frames
from infra.kernel.assignment import Assigned
from infra.kernel.events import Event
from infra.kernel.frames import Assignment
from infra.runtime.logs import Logger

from .core import BrokerCore
from .gate import Gate
from .tally import Tally


class Offloading:
    """What `core` needs: a gate while topics are out, a tally while a service is there, beside what it records already."""

    def __init__(self, core: BrokerCore, log: Logger) -> None:
        self.assigned = Assigned()
        self.tally = Tally()
        self._core, self._log, self._record = core, log, core.record
        self._gate = Gate(self.assigned.out)

    def begin(self) -> None:
        """Counting begins."""
        self._core.record = self.tally.event if self._record is None else partial(_both, self._record, self.tally.event)

    def end(self) -> None:
        """Nobody asks for counts."""
        self._core.record = self._record
        self.tally.clear()
        self.assigned.cut()

    def tell(self) -> Iterator[tuple[frames.Tally]]:
        """The counts since it was told last."""
        return self.tally.take()

    def epoch(self) -> int:
        """Of the assignment that holds."""
        return self.assigned.epoch

    def assign(self, frame: Assignment) -> None:
        """The gate follows each new epoch."""
        switch = self.assigned.offer(frame)
        if switch is not None:
            self._gate.switch(switch)
            self._core.passes = self._gate.passes if self.assigned.out else None
            out, left, came = len(self.assigned.out), len(switch.left), len(switch.came)
            self._log.info("assignment", epoch=self.assigned.epoch, out=out, left=left, came=came)

    def tick(self, now_s: float) -> None:
        """It is `now_s` of the node's time."""
        self._gate.tick(now_s)

    def counters(self) -> dict[str, Any]:
        """Figures for `metrics.METRICS`."""
        return {
            "broker_events_offloaded_total": self._core.offloaded,
            "broker_topics_offloaded": len(self.assigned.out),
            "broker_assignment_epoch": self.assigned.epoch,
            "broker_assignments_stale_total": self.assigned.stale,
            "broker_assignment_topics_refused_total": self.assigned.passed_over,
            "broker_tally_missed_total": self.tally.missed,
        }


def _both(one: Callable[[Event], None], other: Callable[[Event], None], event: Event) -> None:
    one(event)
    other(event)
