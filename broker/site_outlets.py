"""The outlets of all links to other sites: each is looked at many times a second, and their counts outlive them."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from infra.kernel.interest import Interest
from infra.kernel.topics import Kind, Topic
from infra.runtime.link import Link
from infra.runtime.turns import in_turns

from .overload_options import OverloadOptions
from .site_outlet import SiteOutlet

PERIOD_S: Final = 0.05


class SiteOutlets:
    """One for each link to another site; none where `options` say so.

    `now_s()`: returns the node's time.
    """

    def __init__(self, options: OverloadOptions, now_s: Callable[[], float]) -> None:
        self._options, self._now_s = options, now_s
        self._outlets: dict[Link, SiteOutlet] = {}
        self._conflated = self._shed = self._overdue = 0

    @property
    def everyone(self) -> Collection[SiteOutlet]:
        """All outlets."""
        return self._outlets.values()

    def open(self, link: Link) -> SiteOutlet | Link:
        """Returns what takes the events for `link`, which leads to another site."""
        if not self._options.enabled:
            return link
        outlet = self._outlets[link] = SiteOutlet(link, self._options)
        in_turns(self._look(link, outlet))
        return outlet

    def close(self, link: Link) -> None:
        """Forgets a link that is gone, if it has an outlet. What waited for it is shed."""
        if (outlet := self._outlets.pop(link, None)) is not None:
            outlet.held.close()
            self._conflated += outlet.held.conflated
            self._shed += outlet.held.shed
            self._overdue += outlet.held.overdue

    def weigh(self, link: Link, handles: Sequence[int], gains: bytes) -> None:
        """Notes about how many clients behind `link` follow the topics that it wants under `handles` (see `Subscribe`)."""
        if (outlet := self._outlets.get(link)) is not None:
            for handle, gain in zip(handles, gains or bytes(len(handles)), strict=True):
                outlet.gains[handle] = gain

    def unwanted(self, link: Link, interest: Interest, bit: int, topics: Sequence[Topic]) -> None:
        """Drops what waits of topics that are not wanted any more.

        - `link`: whose topics they are.
        - `interest`, `bit`: the handles of the link, which still has them.
        - `topics`: those that it gives up.
        """
        if (outlet := self._outlets.get(link)) is not None and outlet.held:
            rows = [row for topic in topics if (row := interest.rows.get(topic)) is not None and interest.masks[row] & 1 << bit]
            for row in rows:
                outlet.held.forget(interest.handles(bit)[row])

    def release(self, link: Link) -> None:
        """Gives `link` everything that waits for it: something is to be said behind that."""
        if (outlet := self._outlets.get(link)) is not None:
            outlet.release()

    def _look(self, link: Link, outlet: SiteOutlet) -> Iterator[float]:
        due_s = self._now_s()
        while self._outlets.get(link) is outlet:
            now_s = self._now_s()
            outlet.look(max(0.0, now_s - due_s), now_s)
            due_s = now_s + PERIOD_S
            yield PERIOD_S

    def counters(self) -> dict[str, float | dict[str, float]]:
        """Returns the figures of `metrics.METRICS` that are about outlets."""
        held = [outlet.held for outlet in self._outlets.values()]
        return {
            "broker_overload_conflated_total": self._conflated + sum(each.conflated for each in held),
            "broker_overload_shed_total": {Kind.USER.value: self._shed + sum(each.shed for each in held)},
            "broker_overload_overdue_total": self._overdue + sum(each.overdue for each in held),
            "broker_overload_held_bytes": sum(each.bytes for each in held),
        }
