"""Choosing pairs with an eye on what has to come in."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.planning.instance import Instance, instance
from analytics.planning.provisioning.choice import choose, indispensable
from analytics.planning.provisioning.selection import Selection
from tests.support.instances import instances


def volume(found: Instance, selection: Selection) -> int:
    """Returns the events that go out, and those that come in once for each topic."""
    return selection.outgoing(found) + int(found.events[selection.served()].sum())


@given(instances(), st.integers(1, 30))
@settings(max_examples=40)
def test_everybody_is_satisfied_by_pairs_of_his_and_could_spare_none(found: Instance, threshold: int) -> None:
    chosen = [(v, t) for t, subscribers in enumerate(choose(found, threshold).subscribers_of.lists()) for v in subscribers]
    needs = found.thresholds(threshold).tolist()
    for v, topics in enumerate(found.topics_of.lists()):
        mine = [int(found.events[t]) for w, t in chosen if w == v]
        assert {t for w, t in chosen if w == v} <= set(topics)
        assert sum(mine) >= needs[v] > sum(mine) - min(mine)


def test_who_can_share_a_topic_does_rather_than_have_less_of_his_own() -> None:
    """Both have topic 0 (4 events); subscriber 1 pays 4 for it once it comes in, and 3 + 3 for topic 2."""
    found = instance(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 2]), np.array([4, 6, 3]))
    assert volume(found, choose(found, 3)) == 4 + 4 + 4


def test_what_has_to_come_in_anyway_is_used_by_all() -> None:
    """Subscriber 0 has only topic 0 (4 events); subscriber 1 takes it as well, and not their own with 3."""
    found = instance(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([4, 3]))
    assert indispensable(found, 3).tolist() == [1, 0]
    assert choose(found, 3).subscribers_of.lists() == [[0, 1], []]


def test_the_same_is_chosen_every_time() -> None:
    draw = np.random.default_rng(1)
    pairs = np.unique(draw.integers(0, [300, 60], (900, 2)), axis=0)
    found = instance(pairs[:, 0], pairs[:, 1], draw.integers(1, 40, 60))
    assert choose(found, 50).subscribers_of.lists() == choose(found, 50).subscribers_of.lists()
