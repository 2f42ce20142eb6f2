"""Topics that nobody follows any more wait, each kind for its own time."""

from broker.lingering import Lingering
from infra.kernel.topics import Kind, Topic, user_topic

ANN, BOB, CAT = map(user_topic, ("ann", "bob", "cat"))
MIX = Topic(b"Pann/mix")


def test_what_was_left_before_the_horizon_of_its_kind_is_due_the_oldest_first() -> None:
    lingering = Lingering()
    lingering.add([(1, ANN), (2, BOB), (4, MIX)], 5)
    lingering.add([(3, CAT)], 6)
    assert list(lingering.due(lambda kind: 5)) == []
    assert list(lingering.due(lambda kind: 6 if kind is Kind.USER else 5)) == [(1, ANN), (2, BOB)]
    assert sorted(lingering.due(lambda kind: 7)) == [(3, CAT), (4, MIX)]
    assert len(lingering) == 0


def test_who_is_left_again_waits_anew() -> None:
    lingering = Lingering()
    lingering.add([(1, ANN), (2, BOB)], 5)
    lingering.add([(1, ANN)], 8)
    assert list(lingering.due(lambda kind: 8)) == [(2, BOB)]
    assert list(lingering.due(lambda kind: 9)) == [(1, ANN)]


def test_what_is_taken_out_is_due_no_more() -> None:
    lingering = Lingering()
    lingering.add([(1, ANN), (2, BOB)], 5)
    assert sorted(lingering.pairs()) == [(1, ANN), (2, BOB)]
    assert lingering.take([(1, ANN), (2, CAT), (3, BOB), (4, MIX)]) == [(1, ANN)]
    assert len(lingering) == 1
    assert list(lingering.due(lambda kind: 6)) == [(2, BOB)]
