"""What the model says of the interest that nodes hold, look by look."""

from infra.kernel.topics import parse_topic
from tests.support.interest_oracle import Tables

from .interest import InterestComparison

HERE, THERE = "lon/b1", "sto/b1"
ANN, BOB = parse_topic("hm://presence/user/ann/"), parse_topic("hm://presence/user/bob/")
WANTED: Tables = {THERE: {(ANN, HERE)}}


def test_what_is_wanted_no_more_may_be_held_at_one_look_and_not_at_the_next() -> None:
    """DPS-4, DPS-31: a broker withdraws what is not recorded any more at other sites, and that is on its way for some milliseconds."""
    comparison = InterestComparison()
    assert not comparison.odd(implied=WANTED, held=WANTED)
    assert not comparison.odd(implied={}, held=WANTED)
    assert THERE in comparison.odd(implied={}, held=WANTED)


def test_what_nobody_wanted_is_too_much_at_once() -> None:
    """DPS-31"""
    assert THERE in InterestComparison().odd(implied={}, held=WANTED)
    comparison = InterestComparison()
    assert not comparison.odd(implied=WANTED, held=WANTED)
    assert "Ubob" in comparison.odd(implied=WANTED, held={THERE: {(ANN, HERE), (BOB, HERE)}})


def test_what_is_wanted_and_not_held_is_too_little_at_once() -> None:
    """DPS-31"""
    comparison = InterestComparison()
    assert not comparison.odd(implied={}, held={})
    assert THERE in comparison.odd(implied=WANTED, held={})
