"""The broker's side of offloading: what the decision service asks and says, and what follows from it for the core.

One service at a time. While it is linked, events are counted for it; when its link is lost, what it said last goes on.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any as Anything
from typing import Final

from infra.kernel.assignment import Assigned
from infra.kernel.errors import Refused
from infra.kernel.events import Event
from infra.kernel.frames import Any as AnyFrame
from infra.kernel.frames import Assignment, Heartbeat, Hello, Survey
from infra.runtime.link import Link
from infra.runtime.surveys import Surveys

from .core import BrokerCore
from .gate import Gate
from .tally import Tally

# The role of the service, as it says in its hello.
DECIDER: Final = "ods"


class Offloading:
    """What `core` needs: a gate while topics are out, a tally while somebody asks for it, beside what it records already."""

    def __init__(self, core: BrokerCore, log: Anything) -> None:
        self.assigned = Assigned()
        self.tally = Tally()
        self._core, self._log, self._record = core, log, core.record
        self._gate = Gate(self.assigned.out)
        self._link: Link | None = None
        self._surveys: Surveys | None = None

    def admit(self, hello: Hello) -> None:
        """Raises `Refused` if another service is here; the same one may link again."""
        here = self._link.peer if self._link is not None else hello
        if (here.site, here.node) != (hello.site, hello.node):
            reason = f"the decision service {here.site}/{here.node} is linked here, and there is one at a time; stop it first"
            raise Refused("duplicate-node", reason)

    def link_up(self, link: Link) -> None:
        """The service is there; counting begins."""
        self._link, self._surveys = link, Surveys(link, self.tally.take)
        self._core.record = self.tally.event if self._record is None else partial(_both, self._record, self.tally.event)

    def link_down(self, link: Link) -> None:
        """The service is gone: nobody asks for counts. Any other link changes nothing."""
        if link is self._link and self._surveys is not None:
            self._surveys.end()
            self._link = self._surveys = None
            self._core.record = self._record
            self.tally.clear()
            self.assigned.cut()

    def frames(self, frames: Iterable[AnyFrame]) -> None:
        """What the service says. Raises `Refused` if it cannot be followed."""
        assert self._surveys is not None
        for frame in frames:
            match frame:
                case Survey(n):
                    self._surveys.ask(n)
                case Assignment():
                    self._take(frame)
                case Heartbeat():
                    pass
                case _:
                    raise Refused("bad-link-frame", f"{type(frame).__name__} from the decision service makes no sense here")

    def _take(self, frame: Assignment) -> None:
        switch = self.assigned.offer(frame)
        if switch is not None:
            self._gate.switch(switch)
            self._core.passes = self._gate.passes if self.assigned.out else None
            out, left, came = len(self.assigned.out), len(switch.left), len(switch.came)
            self._log.info("assignment", epoch=self.assigned.epoch, out=out, left=left, came=came)

    def tick(self, now_s: float) -> None:
        """It is `now_s` of the node's time."""
        self._gate.tick(now_s)

    def counters(self) -> dict[str, Anything]:
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
