"""The ring of a broker's site, as operators see and change it."""

from collections.abc import Callable, Mapping
from itertools import islice
from statistics import fmean
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.frames import RingWish
from infra.runtime.loop_lag import LoopLag

from . import operator_answers as bodies
from .core import BrokerCore
from .mesh import Mesh
from .options import BrokerOptions
from .ring_wishes import RingWishes

# From so many topics follows how long they are on average.
SAMPLE: Final = 1000


class RingKeeper:
    """The ring of one site.

    - `options`: name the slots that there are.
    - `core`: knows what is followed here; `mesh`: who is there, and the view.
    - `wishes`: bring what operators want to the broker that issues views.
    - `waits_for()`: returns whom this broker waits for before it is done with the view.
    """

    def __init__(
        self, options: BrokerOptions, core: BrokerCore, mesh: Mesh, wishes: RingWishes, waits_for: Callable[[], list[str]]
    ) -> None:
        self._options, self._core, self._mesh, self._wishes = options, core, mesh, wishes
        self._waits_for = waits_for
        self._lag = LoopLag()
        self._is_measuring = False

    def state(self) -> bodies.RingState:
        """Returns the view that holds, and how far everybody is with it. How late the loop is, is measured from the first time on."""
        if not self._is_measuring:
            self._lag.start()
            self._is_measuring = True
        view, done = self._mesh.view, self._mesh.membership.done()
        topics = [len(topic) for topic in islice(self._core.interest.rows, SAMPLE)]
        return bodies.RingState(
            site=self._options.site,
            broker=self._options.slot,
            number=view.number,
            slots=[bodies.RingSlot(slot, share, view.goal_of[slot], slot in done) for slot, share in view.share_of.items()],
            configured=sorted(self._options.sites[self._options.site]),
            steps=self._options.join_steps,
            rows=len(self._core.interest.rows),
            topic_bytes=round(fmean(topics), 1) if topics else 0.0,
            lag_s=round(self._lag.worst_s(), 4),
            waits_for=self._waits_for(),
        )

    def check_site(self, site: str) -> None:
        """Raises `Refused` if this is not a broker of `site`."""
        if site != self._options.site:
            raise Refused("bad-field", f"this is a broker of {self._options.site}; ask one of {site!r:.80} to change the ring there")

    async def aim(self, before: Mapping[str, int], goal: Mapping[str, int]) -> bodies.RingState:
        """Has the ring go where slots have the shares of `goal`. What it does not name stays as it is. See `RingWishes.bring`.

        `before`: where it was to go when that was decided. Whoever decides at the same time is told so.
        """
        await self._wishes.bring(RingWish(0, dict(goal), dict(before)))
        return self.state()

    async def stop(self) -> bodies.RingState:
        """Has the ring stay where it is when the broker that issues views hears of it: what stands is valid."""
        await self._wishes.bring(RingWish(0))
        return self.state()

    async def close(self) -> None:
        """Measures no more. May be called twice."""
        self._lag.stop()
