"""The study of what nodes keep and handle."""

import numpy as np
import pytest

from overlay.report.studies.upkeep import UPKEEP, NodeCosts, claims, exponent
from overlay.simulator.graphs.friends import friends
from overlay.simulator.poldercast.overlay import PolderCastOverlay
from overlay.simulator.poldercast.state import MODULES, RINGS
from tests.support.tiny_studies import tiny

TOPICS = np.arange(1, 301)


def costs(power: float, *, control: float = 12.0, slope: float = 0.001) -> NodeCosts:
    """Returns nodes whose views grow with a power of their topics, and whose control messages rise with a slope."""
    return NodeCosts(TOPICS, 4.0 * TOPICS**power, control + slope * (TOPICS - TOPICS.mean()))


@pytest.mark.parametrize(
    ("friends", "followers", "held"),
    [
        (costs(0.95), costs(0.8), [True, True]),
        (costs(0.95), costs(0.97), [False, True]),
        (costs(0.7), costs(0.6), [False, True]),
        (costs(0.95, control=14.0), costs(0.8), [True, False]),
        (costs(0.95, slope=-0.001), costs(0.8), [True, False]),
    ],
    ids=["as published", "followers steeper", "friends flat", "too many messages", "fewer for the rich"],
)
def test_what_is_claimed_of_degrees_and_messages(friends: NodeCosts, followers: NodeCosts, held: list[bool]) -> None:
    """A judge that is given invented numbers."""
    found = {"friends": friends, "followers": followers}
    assert [each.holds for each in claims(found, is_full=True)] == held
    assert [each.holds for each in claims(found, is_full=False)] == [None, None]


def test_the_exponent_is_that_of_a_power() -> None:
    assert exponent(TOPICS, 3.0 * TOPICS**0.7) == pytest.approx(0.7)


def test_small_overlays_have_a_row_for_each_size_of_nodes() -> None:
    """P2P-23: a node sends 6 messages in a cycle and receives 6, in the mean."""
    table = tiny(UPKEEP).table("friends")
    assert sum(int(row[1]) for row in table.rows) == 200
    mean = sum(int(row[1]) * float(row[3]) for row in table.rows) / 200
    assert mean == pytest.approx(12, rel=0.05)
    views = [float(row[2]) for row in table.rows]
    assert views == sorted(views)


def test_views_grow_less_than_topics_on_followers_and_almost_alike_on_friends() -> None:
    """P2P-22, in small: 1,000 nodes of each."""
    (told,) = (each.measured for each in tiny(UPKEEP).claims if each.requirement == "P2P-22")
    of_followers = float(told.split("followers ")[1])
    work = friends(1000, 1).workload()
    system = PolderCastOverlay(work, 1)
    system.run(40)
    of_friends = exponent(work.topics_of.lengths, np.asarray(system.state.counts)[RINGS::MODULES])
    assert 0.85 <= of_friends <= 1
    assert of_followers < of_friends - 0.05
