"""The broker's side of offloading (see `Offloader`): it tells how many events topics had, and delivers no more of those that are out."""

from collections.abc import Iterator
from typing import Any

from infra.kernel.frames import Assignment, Tally
from infra.runtime.logs import Logger

from .core import BrokerCore


class Offloading:
    """The answers of `core` to the decision service; a change of what is out is logged."""

    def __init__(self, core: BrokerCore, log: Logger) -> None:
        self._core, self._log = core, log

    def begin(self) -> None:
        """Begins to count."""
        self._core.begin_counts()

    def end(self) -> None:
        """Counts no more: nobody asks."""
        self._core.end_counts()

    def tell(self) -> Iterator[tuple[Tally]]:
        """Returns the counts since it was told last."""
        return self._core.counts.take()

    def epoch(self) -> int:
        """Returns the epoch of the assignment that holds."""
        return self._core.assigned.epoch

    def assign(self, frame: Assignment) -> None:
        """Follows each new epoch."""
        switch = self._core.assign(frame)
        if switch is not None:
            out, left, came = len(self._core.assigned.out), len(switch.left), len(switch.came)
            self._log.info("assignment", epoch=self._core.assigned.epoch, out=out, left=left, came=came)

    def tick(self, now_s: float) -> None:
        """Ends overlaps; `now_s` is the node's time."""
        self._core.gate.tick(now_s)

    def counters(self) -> dict[str, Any]:
        """Returns the figures of offloading for `metrics.METRICS`."""
        core = self._core
        return {
            "broker_events_offloaded_total": core.offloaded,
            "broker_topics_offloaded": len(core.assigned.out),
            "broker_assignment_epoch": core.assigned.epoch,
            "broker_assignments_stale_total": core.assigned.stale,
            "broker_assignment_topics_refused_total": core.assigned.passed_over,
            "broker_tally_missed_total": core.counts.missed,
        }
