"""When a broker that leaves may close."""

import asyncio
from typing import Any, cast

import pytest

from broker.departure import Departure
from broker.mesh import Mesh
from broker.moving import TopicMoves
from broker.publication_order import PublicationOrder
from broker.publishing import PublishingLinks
from infra.kernel.frames import View

BOTH, WITHOUT = View(3, ("b1", "b2")), View(4, ("b2",))


class Surroundings:
    """The surroundings of broker b1, as it sees them. They are its own mesh, moves, links and order."""

    def __init__(self) -> None:
        self.view, self.said = WITHOUT, WITHOUT
        self.is_over = self.is_idle = True
        self.is_wanted = self.is_alone = False
        self.departure = self.unfollowed()
        self.departure.follow(BOTH, WITHOUT)

    def unfollowed(self) -> Departure:
        """Returns the departure of a broker that was in no view."""
        this: Any = self
        parts = cast(Mesh, this), cast(TopicMoves, this), cast(PublishingLinks, this), cast(PublicationOrder, this)
        return Departure("b1", *parts, lambda: self.is_wanted)

    def has_successor(self) -> bool:
        return not self.is_alone

    def go_by(self, view: View) -> bool:
        return self.said.order >= view.order

    async def is_departed(self) -> bool:
        """Returns whether it may close, when it has looked once more."""
        self.departure.check()
        waiting = asyncio.ensure_future(self.departure.over())
        await asyncio.sleep(0)
        return waiting.done() or not waiting.cancel()


@pytest.mark.parametrize(("what", "now"), [("view", BOTH), ("is_over", False), ("is_wanted", True), ("said", BOTH), ("is_idle", False)])
async def test_it_stays_for_as_long_as_somebody_needs_it(what: str, now: object) -> None:
    """SB-24: it has a share, gives topics away, is wanted, is sent events, or has passed some on that are not answered."""
    site, usual = Surroundings(), getattr(Surroundings(), what)
    setattr(site, what, now)
    assert not await site.is_departed()
    setattr(site, what, usual)
    assert await site.is_departed()


async def test_the_last_one_waits_for_nobody() -> None:
    site = Surroundings()
    site.view, site.is_idle, site.is_alone = BOTH, False, True
    assert await site.is_departed()


async def test_later_views_are_waited_for_no_more() -> None:
    """Others may take topics over in many steps, and say that they go by one of them when it is their time for a heartbeat."""
    site = Surroundings()
    site.view = View(9, ("b2", "b3"))
    site.departure.follow(WITHOUT, site.view)
    assert await site.is_departed()


async def test_whoever_was_in_no_view_is_sent_nothing() -> None:
    site = Surroundings()
    site.said = View(0, ())
    site.departure = site.unfollowed()
    assert await site.is_departed()
