"""Whose topics may lack something, because a broker was lost."""

from aggregator.losses import OwnerLosses
from infra.kernel.ring import Ring

BOTH, ONE = Ring(("b1", "b2")), Ring(("b1",))


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
