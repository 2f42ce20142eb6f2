"""infra.kernel.places: who gets a place at a door."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.errors import Refused
from infra.kernel.places import Places


def taken(places: Places, address: str) -> bool:
    try:
        places.take(address)
    except Refused as refused:
        return refused.code.name != "overloaded"
    return True


def test_one_address_never_takes_the_places_of_others() -> None:
    """DPS-26: one noisy party is never another's loss."""
    places = Places(size=10, per_address=3)
    assert [taken(places, "192.0.2.1") for _ in range(5)] == [True, True, True, False, False]
    assert taken(places, "192.0.2.2")
    assert places.refused == {"door": 0, "address": 2}


def test_a_full_door_says_so_until_somebody_leaves() -> None:
    places = Places(size=2, per_address=2)
    assert [taken(places, address) for address in "abc"] == [True, True, False]
    places.give_back("a")
    assert taken(places, "c")
    assert places.refused == {"door": 1, "address": 0}


def test_a_refusal_says_which_bound_was_met() -> None:
    places = Places(size=1, per_address=1)
    places.take("192.0.2.1")
    with pytest.raises(Refused, match=r"1 connections of 192\.0\.2\.1 are open"):
        places.take("192.0.2.1")
    with pytest.raises(Refused, match="1 connections are open, and there is no room"):
        places.take("192.0.2.2")


@given(st.lists(st.tuples(st.booleans(), st.sampled_from("abcd"))))
def test_no_bound_is_ever_passed_and_no_place_is_lost(steps: list[tuple[bool, str]]) -> None:
    places, inside = Places(size=5, per_address=2), Counter[str]()
    for comes, address in steps:
        if comes and taken(places, address):
            inside[address] += 1
        elif not comes and inside[address]:
            places.give_back(address)
            inside[address] -= 1
        assert places.taken == inside.total() <= 5
        assert max(inside.values(), default=0) <= 2
