"""Revocations and bans: merged in any order they come out the same; bounded; what they refuse, and until when (DPS-28)."""

from itertools import permutations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.errors import Refused
from infra.kernel.revocations import KEPT_AFTER_MS, Ban, Entry, Revocation, Revocations
from infra.runtime.keys import AuthOptions

FEW_MS = st.integers(0, 5)
ENTRIES = st.lists(
    st.one_of(
        st.builds(Revocation, st.sampled_from(["user", "service", "token"]), st.sampled_from("ab"), FEW_MS, FEW_MS),
        st.builds(Ban, st.sampled_from("ab"), FEW_MS, FEW_MS, FEW_MS),
    ),
    max_size=6,
)


def known(*portions: list[Entry]) -> set[Entry]:
    found = Revocations()
    for portion in portions:
        found.merge(portion, 0)
    return {*found.revocations(), *found.bans()}


@given(ENTRIES, ENTRIES, ENTRIES)
def test_what_is_merged_comes_out_the_same_in_any_order_and_however_often(one: list[Entry], other: list[Entry], third: list[Entry]) -> None:
    """DPS-28: commutative, associative, idempotent."""
    outcomes = [known(*order) for order in permutations((one, other, third))]
    assert all(each == outcomes[0] for each in outcomes)
    assert known(one, other, third, one, third, other) == outcomes[0]
    assert known(list(known(one, other)), list(known(other, third))) == outcomes[0]


@given(ENTRIES, ENTRIES)
def test_news_is_what_the_others_must_hear_and_nothing_else(one: list[Entry], other: list[Entry]) -> None:
    mine = Revocations()
    mine.merge(one, 0)
    news = mine.merge(other, 0)
    assert known(one, news) == known(one, other)
    assert mine.merge(other, 0) == []


@given(ENTRIES, st.integers(0, 4))
def test_no_more_entries_than_the_bound_are_kept_and_those_that_are_there_stay(entries: list[Entry], most: int) -> None:
    """DPS-28: bounded; nothing is forgotten to make room."""
    few = Revocations(most)
    kept: set[tuple[str, str]] = set()
    for entry in entries:
        few.merge([entry], 0)
        now = {each.key for each in few.revocations()} | {each.key for each in few.bans()}
        assert kept <= now
        kept = now
    assert len(few) <= most
    assert few.turned_away == sum(entry.key not in kept for entry in entries)


def test_one_more_than_there_is_room_for_is_refused_and_the_reason_says_what_to_do() -> None:
    """DPS-28: what is refused when full says so."""
    full = Revocations(most=1)
    full.add(Revocation("user", "ann", 10, 20))
    assert full.add(Revocation("user", "ann", 15, 20)) == [Revocation("user", "ann", 15, 20)]
    with pytest.raises(Refused, match="change the secret"):
        full.add(Revocation("user", "bob", 10, 20))


def test_tokens_issued_before_are_refused_until_the_end_and_later_ones_are_not() -> None:
    """DPS-28: by user, by service and by the id of a token."""
    found = Revocations()
    found.merge([Revocation("user", "ann", 100_000, 500_000), Revocation("token", "t1", 100_000, 500_000)], 0)
    found.merge([Revocation("service", "presence", 100_000, 500_000)], 0)
    assert code(found.user_refusal("ann", "t7", issued_s=99.9, now_s=200)) == "token-revoked"
    assert code(found.user_refusal("ann", "t7", issued_s=0.0, now_s=200)) == "token-revoked"
    assert found.user_refusal("ann", "t7", issued_s=100, now_s=200) is None
    assert code(found.user_refusal("bob", "t1", issued_s=50, now_s=200)) == "token-revoked"
    assert found.user_refusal("bob", "", issued_s=50, now_s=200) is None
    assert code(found.service_refusal("presence", "", issued_s=50, now_s=200)) == "token-revoked"
    assert found.user_refusal("presence", "", issued_s=50, now_s=200) is None


def test_a_token_that_is_forgiven_its_end_is_refused_as_long_as_it_would_be_forgiven() -> None:
    """DPS-28: `until` is when the token expires, and every door takes tokens for `leeway_s` longer than that."""
    longest_s = 600  # which `auth.leeway_s` may be
    with pytest.raises(msgspec.ValidationError, match="leeway_s"):
        msgspec.convert({"leeway_s": longest_s + 1}, AuthOptions)
    found = Revocations()
    found.add(Revocation("token", "t1", 100_000, 500_000))
    assert code(found.user_refusal("ann", "t1", issued_s=50, now_s=500 + longest_s)) == "token-revoked"
    assert found.user_refusal("ann", "t1", issued_s=50, now_s=500 + KEPT_AFTER_MS / 1000) is None


def test_a_ban_holds_for_its_time_and_lifting_it_wins_over_the_ban_wherever_it_is_heard_first() -> None:
    ban = Ban("ann", at_ms=1_000, until_ms=9_000, known_ms=9_000)
    lifted = Ban("ann", at_ms=2_000, until_ms=0, known_ms=9_000)
    here, there = Revocations(), Revocations()
    here.merge([ban], 0)
    assert code(here.user_refusal("ann", "", issued_s=5, now_s=8.9)) == "banned"
    assert here.user_refusal("ann", "", issued_s=5, now_s=9) is None
    here.merge([lifted], 0)
    there.merge([lifted, ban], 0)
    assert here.bans() == there.bans()
    assert there.user_refusal("ann", "", issued_s=5, now_s=3) is None
    assert lifted.end_ms == 9_000


def test_what_is_over_is_forgotten_after_a_while_and_not_learned_again() -> None:
    """Two clocks may differ: what one node has forgotten, another one may still tell."""
    entry = Revocation("user", "ann", 10, 20)
    found = Revocations()
    found.add(entry)
    assert found.forget(20 + KEPT_AFTER_MS - 1) == []
    assert found.forget(20 + KEPT_AFTER_MS) == [entry]
    assert found.merge([entry], 20 + KEPT_AFTER_MS) == []
    assert len(found) == 0


def code(refused: Refused | None) -> str | None:
    return refused.code.name if refused is not None else None
