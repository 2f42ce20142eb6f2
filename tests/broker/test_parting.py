"""When a broker parts from what has gone to others."""

from collections.abc import Iterator
from typing import cast

import pytest

from broker.mesh import Mesh
from broker.moving import TopicMoves
from broker.parting import Parting
from broker.subscribers import Subscribers
from infra.kernel.announcer import PARTING_BEATS
from infra.kernel.frames import View
from infra.kernel.ring import Ring

GROWN = (Ring(["b1"]), Ring(["b1", "b2"]))


class Site:
    """A broker's surroundings: who has taken what, who has settled, and whether anything moves. It is its own mesh, moves and followers."""

    def __init__(self) -> None:
        self.view, self.is_over, self.taken, self.settled = View(2, ("b2", "b3")), True, False, False
        self.handed_over = self.settlings = 0
        self.pauses: list[float] = []
        self.parting = Parting(cast(Mesh, self), cast(TopicMoves, self), lambda: cast(Subscribers, self), self.run)

    def run(self, work: Iterator[float]) -> None:
        self.pauses = list(work)

    def have_taken(self, slots: set[str]) -> bool:
        assert slots == {"b2"}
        return self.taken

    def have_settled(self) -> bool:
        return self.settled

    def hand_over(self) -> Iterator[int]:
        self.handed_over += 1
        yield from (1000, 3)

    def settle(self) -> None:
        self.settlings += 1


@pytest.fixture
def site() -> Site:
    site = Site()
    site.parting.begin(*GROWN)
    site.parting.gone_to(["b2"])
    return site


def test_nothing_is_parted_from_before_the_others_have_it_and_followers_have_settled(site: Site) -> None:
    """DPS-13"""
    for missing in ("taken", "settled", "is_over"):
        site.taken = site.settled = site.is_over = True
        setattr(site, missing, False)
        assert not site.parting.done()
    assert site.handed_over == 0
    site.is_over = True
    assert site.parting.done()
    assert (site.handed_over, site.settlings) == (1, 1)


def test_nobody_is_waited_for_for_ever(site: Site) -> None:
    for _ in range(PARTING_BEATS):
        site.parting.tick()
    assert not site.parting.is_over
    site.parting.tick()
    assert site.parting.is_over


def test_another_view_counts_anew(site: Site) -> None:
    for _ in range(PARTING_BEATS):
        site.parting.tick()
    site.parting.begin(*GROWN)
    site.parting.tick()
    assert not site.parting.is_over


def test_whoever_has_given_nothing_away_has_nothing_to_part_from() -> None:
    site = Site()
    assert site.parting.done()
    assert site.handed_over == 0


def test_who_parts_from_many_topics_pauses_in_between_unless_a_broker_is_stopped(site: Site) -> None:
    """DPS-15, DPS-16: nothing is held meanwhile, so events on other topics go first."""
    site.taken = site.settled = True
    assert site.parting.done()
    assert site.pauses == pytest.approx([0.06, 0.0])
    site.parting.begin(*reversed(GROWN))
    site.parting.gone_to(["b2"])
    assert site.parting.done()
    assert site.pauses == [0.0, 0.0]
