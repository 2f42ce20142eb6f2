"""Who is to be told what in a row, from the ring alone."""

from infra.kernel.loss_reasons import LossReason
from infra.kernel.ring import Ring
from infra.kernel.topics import parse_topic
from segue.drill.load import COPIED, TOPICS, WINDOW
from segue.drill.tellings import DueTelling

RING = Ring(("b1", "b2", "b3"))
FOLLOWS = {name: frozenset(TOPICS[COPIED]) for name in ("sto-0-0", "sto-traveller", "lon-0-0", "lon-traveller")}
AWAY = frozenset({"sto-traveller", "lon-traveller"})


def who(telling: DueTelling) -> set[str]:
    return {name for name, _ in telling.due(FOLLOWS, AWAY, None, has_heirs=False)}


def test_it_is_told_at_one_site_or_at_all_and_to_everybody_or_to_those_who_were_away() -> None:
    assert who(DueTelling(LossReason.SPLIT)) == set(FOLLOWS)
    assert who(DueTelling(LossReason.SPLIT, "sto")) == {"sto-0-0", "sto-traveller"}
    assert who(DueTelling(LossReason.EXPIRED, to="travellers")) == AWAY


def test_a_topic_is_lost_with_its_owner_and_where_there_are_heirs_only_with_both() -> None:
    """DPS-8, DPS-18, DPS-32."""
    telling = DueTelling(LossReason.OWNER_LOST, slots=("b1", "b2"))
    keys = {topic: parse_topic(topic) for topic in TOPICS[COPIED]}
    owned = {topic for topic, key in keys.items() if RING.owner(key) in ("b1", "b2")}
    both = {topic for topic in owned if RING.heir(keys[topic]) in ("b1", "b2")}
    assert {topic for _, topic in telling.due(FOLLOWS, AWAY, RING, has_heirs=False)} == owned
    assert {topic for _, topic in telling.due(FOLLOWS, AWAY, RING, has_heirs=True)} == both
    assert set() < both < owned < set(TOPICS[COPIED])


def test_the_topics_of_the_rows_lie_so_that_some_are_concerned_and_others_not() -> None:
    for kind in (WINDOW, COPIED):
        for slots in (("b1", "b2"), ("b1", "b2", "b3")):
            assert {Ring(slots).owner(parse_topic(topic)) for topic in TOPICS[kind]} == set(slots)
