"""Departure: a broker that leaves closes when nobody needs it any more (SB-24).

1. It is out of the view, all that it had is with others, and nobody wants anything of it.
2. Nobody sends it events any more. What was sent here under an earlier view comes on each link before the sender's word that it goes by
   the one without this broker.
3. What it has passed on to the new owners is answered. Whoever had sent that here hears by way of this broker what became of it.
"""

import asyncio
from collections.abc import Callable

from infra.kernel.frames import View

from .mesh import Mesh
from .moving import TopicMoves
from .publication_order import PublicationOrder
from .publishing import PublishingLinks


class Departure:
    """The end of the broker `me`, which leaves.

    - `mesh`: has the view, and knows whether there is anybody who takes over.
    - `moves`: what goes to others. `is_wanted()`: tells whether somebody wants events from here.
    - `publishing`: the links on which events come. `order`: what has been passed on and is not answered.
    """

    def __init__(
        self, me: str, mesh: Mesh, moves: TopicMoves, publishing: PublishingLinks, order: PublicationOrder, is_wanted: Callable[[], bool]
    ) -> None:
        self._me, self._mesh, self._moves, self._publishing, self._order = me, mesh, moves, publishing, order
        self._is_wanted = is_wanted
        # The first view without this broker since it was in one.
        self._without = View(0, ())
        self._over = asyncio.Event()

    def follow(self, was: View, view: View) -> None:
        """Notes that `view` holds after `was`."""
        if self._me in was.slots and self._me not in view.slots:
            self._without = view

    def check(self) -> None:
        """Ends the wait when nobody needs this broker any more, or nobody is there who would take over."""
        if self._is_needless() or not self._mesh.has_successor():
            self._over.set()

    def _is_needless(self) -> bool:
        # Out of the view, not only without a share: whoever issues views may not have heard that this broker leaves, and give it topics.
        is_out = self._me not in self._mesh.view.slots and self._moves.is_over and not self._is_wanted()
        return is_out and self._publishing.go_by(self._without) and self._order.is_idle

    async def over(self) -> None:
        """Waits until this broker may close. Somebody has to `check` meanwhile."""
        await self._over.wait()
