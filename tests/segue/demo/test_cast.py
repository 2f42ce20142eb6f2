"""The cast of the privacy act."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.demo.cast import STRANGERS, cast

USERS = [f"u{number}" for number in range(9)]
PAIRS = st.sets(st.tuples(st.sampled_from(USERS), st.sampled_from(USERS)).filter(lambda pair: pair[0] < pair[1]))


def friends_of(pairs: set[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    return {user: tuple(other for other in USERS if (user, other) in pairs or (other, user) in pairs) for user in USERS}


@given(PAIRS)
def test_each_plays_one_part_and_only_friends_are_parted(pairs: set[tuple[str, str]]) -> None:
    friends = friends_of(pairs)
    found = cast(friends)
    assert len(set(found.players)) == len(found.players)
    assert all(other in friends[one] for one, other in found.blocks)
    assert all(other in friends[one] for one, other in found.ends(friends))
    assert all(one != other and other not in friends[one] for one, other in found.strangers)
    assert len(found.strangers) <= STRANGERS


@pytest.mark.parametrize("friends", [{}, {"ann": ()}, {"ann": ("bob",), "bob": ("ann",)}])
def test_few_friends_leave_parts_empty(friends: Mapping[str, tuple[str, ...]]) -> None:
    found = cast(friends)
    assert (len(found.blocks), len(found.as_before), len(found.strangers)) == (0, 0, 0)
    assert found.hidden == frozenset(user for user in friends if friends[user])
