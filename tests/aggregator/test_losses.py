"""Whose topics may lack something, because a broker was lost."""

from aggregator.losses import MOST_RINGS, OwnerLosses
from infra.kernel.ring import Ring
from infra.kernel.topics import Topic, parse_topic

BOTH, ONE, EMPTY = Ring(("b1", "b2")), Ring(("b1",)), Ring(())
LITTLE, LESS = Ring(("b1", "b2"), shares={"b2": 32}), Ring(("b1", "b2"), shares={"b2": 33})
TOPICS = [parse_topic(f"hm://playlist/user/ann/playlist/p{n}/") for n in range(64)]


def of_b2(ring: Ring) -> set[Topic]:
    return {topic for topic in TOPICS if ring.owner(topic) == "b2"}


def moved_unseen(losses: OwnerLosses) -> set[Topic]:
    moved = losses.take_moved()
    return {topic for topic in TOPICS if any(each(topic, has_copies=True) for each in moved)}


def test_a_broker_that_is_replaced_while_its_link_is_broken_has_lost_what_it_owned() -> None:
    """DPS-8."""
    losses = OwnerLosses()
    assert losses.link_up("b2", 1) is None
    assert losses.follow(BOTH) == []
    losses.link_down("b2", is_left=False)
    assert losses.follow(BOTH) == []
    assert losses.follow(ONE) == [("b2", BOTH)]
    assert losses.follow(ONE) == []


def test_the_same_process_goes_on_and_another_one_has_lost_what_the_former_had() -> None:
    """DPS-8: a link that breaks is no loss by itself."""
    losses = OwnerLosses()
    losses.link_up("b2", 1)
    losses.follow(BOTH)
    for _ in range(2):
        losses.link_down("b2", is_left=False)
        assert losses.link_up("b2", 1) is None
    losses.link_down("b2", is_left=False)
    assert losses.link_up("b2", 2) is BOTH
    assert losses.follow(ONE) == []


def test_who_has_left_as_planned_has_lost_nothing() -> None:
    losses = OwnerLosses()
    losses.link_up("b2", 1)
    losses.follow(BOTH)
    losses.follow(ONE)
    losses.link_down("b2", is_left=True)
    assert losses.follow(ONE) == []
    assert losses.link_up("b2", 2) is None


def test_who_is_replaced_before_its_link_is_found_to_be_broken_has_lost_what_it_had_in_the_last_ring() -> None:
    """DPS-8: a broker that hangs."""
    losses = OwnerLosses()
    losses.follow(BOTH)
    losses.follow(ONE)
    losses.link_down("b2", is_left=False)
    assert losses.follow(ONE) == [("b2", BOTH)]


def test_one_that_was_left_out_and_may_be_another_process_by_now_has_lost_what_it_had_before() -> None:
    """DPS-8: a link may be half open for longer than it takes until a new process has a part of the ring."""
    losses, grown = OwnerLosses(), Ring(("b1", "b2"), shares={"b2": 32})
    losses.link_up("b2", 1)
    losses.follow(BOTH)
    losses.follow(grown, ["b2"])
    losses.link_down("b2", is_left=False)
    assert losses.link_up("b2", 2) is BOTH
    losses.follow(grown, [])
    losses.link_down("b2", is_left=False)
    assert losses.link_up("b2", 3) is grown


def test_what_has_come_to_a_broker_may_lack_something_that_had_not_said_so_when_it_was_left_out() -> None:
    """DPS-8: its link is half open. It has published on that by then, and came to nobody here; also where it has gone on as planned."""
    losses = OwnerLosses()
    losses.link_up("b2", 1)
    losses.follow(LITTLE)
    losses.follow(BOTH, ["b2"])
    losses.follow(ONE)
    losses.link_down("b2", is_left=False)
    assert losses.follow(ONE) == [("b2", LITTLE)]
    assert moved_unseen(losses) == of_b2(BOTH) - of_b2(LITTLE) != set()
    losses = OwnerLosses()
    losses.link_up("b2", 1)
    losses.follow(LITTLE)
    for ring in (BOTH, LESS):
        losses.follow(ring, ["b2"])
    losses.link_down("b2", is_left=False)
    losses.link_up("b2", 1)
    assert moved_unseen(losses) == of_b2(BOTH) - of_b2(LITTLE)
    losses.follow(LESS)
    losses.link_down("b2", is_left=False)
    losses.link_up("b2", 1)
    assert losses.take_moved() == [], "it has said by which ring it goes, and that is as before"


def test_what_moves_away_as_planned_while_the_link_to_its_owner_is_broken_may_lack_what_that_had_last() -> None:
    """DPS-5, DPS-8: the new owner gives what is new to it, and the former one goes on with what is still its own."""
    losses = OwnerLosses()
    losses.link_up("b2", 1)
    losses.follow(BOTH)
    losses.link_down("b2", is_left=False)
    losses.follow(LITTLE)
    assert losses.link_up("b2", 1) is None
    assert moved_unseen(losses) == of_b2(BOTH) - of_b2(LITTLE) != set()
    assert losses.take_moved() == []


def test_what_moves_away_and_comes_back_while_the_link_to_its_owner_is_broken_may_lack_what_that_had_last() -> None:
    """DPS-5, DPS-8: its window forgot that when it had handed it over, and takes it back as what all have been given."""
    losses = OwnerLosses()
    losses.link_up("b2", 1)
    losses.follow(BOTH)
    losses.link_down("b2", is_left=False)
    for ring in (LITTLE, BOTH):
        losses.follow(ring)
    losses.link_up("b2", 1)
    assert moved_unseen(losses) == of_b2(BOTH) - of_b2(LITTLE) != set()
    losses.link_down("b2", is_left=False)
    losses.link_up("b2", 1)
    assert losses.take_moved() == [], "nothing has moved since"


def test_what_comes_to_a_broker_while_its_link_is_broken_and_stays_lacks_nothing() -> None:
    """DPS-8: it goes on with it, behind what its former owner gave."""
    losses = OwnerLosses()
    losses.link_up("b2", 1)
    losses.follow(LITTLE)
    losses.link_down("b2", is_left=False)
    losses.follow(BOTH)
    losses.link_up("b2", 1)
    assert moved_unseen(losses) == set()


def test_who_has_left_as_planned_while_its_link_was_broken_and_is_linked_again_says_that_itself() -> None:
    """DPS-5, DPS-8: its hello is the first that names the view. What it had published last, its heirs had, and nobody here was told."""
    losses = OwnerLosses()
    losses.link_up("b2", 1)
    losses.follow(BOTH)
    losses.link_down("b2", is_left=False)
    losses.hold(ONE)
    assert losses.link_up("b2", 1) is None
    assert losses.follow(ONE) == []
    assert moved_unseen(losses) == of_b2(BOTH)


def test_what_comes_to_a_process_that_is_not_linked_yet_may_lack_what_that_has_published() -> None:
    """DPS-5, DPS-8."""
    losses = OwnerLosses()
    losses.follow(ONE)
    losses.follow(LITTLE)
    losses.follow(BOTH)
    assert losses.link_up("b2", 1) is None
    assert moved_unseen(losses) == of_b2(BOTH)


def test_what_came_to_a_process_that_was_never_linked_and_went_on_may_lack_something_too() -> None:
    """DPS-5, DPS-8."""
    losses = OwnerLosses()
    losses.link_up("b1", 1)
    for ring in (ONE, LITTLE, ONE):
        losses.follow(ring)
    assert moved_unseen(losses) == of_b2(LITTLE) != set()


def test_a_view_that_the_broker_itself_says_first_holds_before_it_is_linked() -> None:
    """DPS-8: what has come to it under that view it may have published on."""
    losses = OwnerLosses()
    losses.follow(ONE)
    losses.hold(LITTLE)
    losses.link_up("b2", 1)
    losses.follow(LITTLE)
    assert moved_unseen(losses) == of_b2(LITTLE)


def test_what_owners_published_who_came_when_nobody_owned_anything_may_be_missing() -> None:
    """DPS-5, DPS-8: all were gone, and others are there that have published before they are linked. At a start nobody is told."""
    losses = OwnerLosses()
    losses.follow(EMPTY)
    losses.follow(BOTH)
    losses.link_up("b1", 1)
    assert losses.take_moved() == []
    losses.link_down("b1", is_left=False)
    losses.follow(EMPTY)
    losses.take_moved()
    losses.follow(BOTH)
    losses.link_up("b2", 1)
    assert moved_unseen(losses) == of_b2(BOTH)


def test_nothing_is_lost_where_nothing_moves_or_who_gets_it_is_linked() -> None:
    """DPS-8: at a start, at a link that breaks alone, and in a step as planned."""
    losses = OwnerLosses()
    losses.follow(BOTH)
    losses.link_up("b1", 1)
    losses.link_up("b2", 1)
    losses.link_down("b2", is_left=False)
    losses.link_up("b2", 1)
    losses.follow(LITTLE)
    losses.follow(BOTH)
    assert losses.take_moved() == []


def test_of_very_many_rings_while_a_broker_is_not_linked_the_first_and_the_newest_are_remembered() -> None:
    losses = OwnerLosses()
    losses.link_up("b2", 1)
    losses.follow(BOTH)
    losses.link_down("b2", is_left=False)
    for share in range(1, 2 * MOST_RINGS):
        losses.follow(Ring(("b1", "b2"), shares={"b2": share}))
    losses.link_up("b2", 1)
    assert moved_unseen(losses) == of_b2(BOTH) - of_b2(Ring(("b1", "b2"), shares={"b2": MOST_RINGS + 1}))


def test_what_is_wanted_since_a_link_broke_and_came_to_its_broker_meanwhile_may_lack_something() -> None:
    """DPS-5, DPS-8: the broker goes on with what was wanted before, and gives of this only what it publishes from now on."""
    losses = OwnerLosses()
    losses.link_up("b2", 1)
    losses.follow(LITTLE)
    losses.link_down("b2", is_left=False)
    losses.follow(BOTH)
    come, stayed = sorted(of_b2(BOTH) - of_b2(LITTLE))[0], sorted(of_b2(LITTLE))[0]
    losses.link_up("b2", 1, {come, stayed})
    assert moved_unseen(losses) == {come}


ALONE, OTHER = Ring(("b1",)), Ring(("b2", "b3"))


def test_what_came_from_a_lost_owner_to_a_process_whose_link_is_broken_may_lack_what_that_published_before_it_is_linked() -> None:
    """DPS-8: it was in no view, so it is no heir. It does not know who follows these topics, and keeps nothing of them for anybody."""
    for has_copies in (False, True):
        losses = OwnerLosses()
        losses.link_up("b2", 1)
        losses.follow(ALONE)
        losses.link_down("b2", is_left=True)
        losses.follow(OTHER)
        losses.link_up("b2", 1)
        moved = losses.take_moved()
        assert {topic for topic in TOPICS if any(each(topic, has_copies=has_copies) for each in moved)} == of_b2(OTHER)


def test_an_heir_goes_on_with_what_a_lost_owner_had_where_there_are_copies_and_nobody_does_without_them() -> None:
    """DPS-8, DPS-18: an heir knows that somebody may be away."""
    losses, only_b2 = OwnerLosses(), Ring(("b2",))
    losses.link_up("b2", 1)
    losses.follow(BOTH)
    losses.link_down("b2", is_left=False)
    losses.follow(only_b2)
    losses.link_up("b2", 1)
    moved = losses.take_moved()
    assert not any(each(topic, has_copies=True) for each in moved for topic in TOPICS)
    assert {topic for topic in TOPICS if any(each(topic, has_copies=False) for each in moved)} == set(TOPICS) - of_b2(BOTH)
