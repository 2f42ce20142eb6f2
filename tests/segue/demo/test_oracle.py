"""The oracle: agrees with brute force over sets, and the ledger finds every planted fault."""

import ast
import random
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from segue.demo import oracle
from segue.demo.oracle import Latency, Ledger, LedgerSummary, audiences, permitted

USERS = [f"u{number}" for number in range(8)]
SITE_OF = {user: ("sto", "lon", "ash")[number % 3] for number, user in enumerate(USERS)}
ANYBODY = st.sampled_from(USERS)
FOLLOWS = st.fixed_dictionaries({user: st.lists(ANYBODY, max_size=8) for user in USERS})


def two_friends_abroad() -> Ledger:
    """Returns a ledger: u0 (sto) is followed by u3 (sto) and u1 (lon); one event e was sent at 10 s."""
    ledger = Ledger(audiences({"u0": [], "u1": ["u0"], "u3": ["u0"]}, {"u0", "u1", "u3"}), SITE_OF)
    ledger.sent("e", "u0", 10.0)
    return ledger


def test_the_oracle_shares_no_code_with_the_engine() -> None:
    tree = ast.parse(Path(oracle.__file__).read_text(encoding="utf-8"))
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    roots = {(node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name).split(".")[0] for node in imported}
    assert roots <= sys.stdlib_module_names
    assert all(node.level == 0 for node in imported if isinstance(node, ast.ImportFrom))


@given(FOLLOWS, st.sets(ANYBODY))
def test_audiences_agree_with_brute_force(follows: dict[str, list[str]], connected: set[str]) -> None:
    found = audiences(follows, connected)
    assert all(len(theirs) == len(set(theirs)) for theirs in found.values())
    assert {(user, follower) for user, theirs in found.items() for follower in theirs} == {
        (user, follower) for follower in connected for user in follows[follower]
    }


@given(FOLLOWS, st.sets(ANYBODY), st.sets(st.tuples(ANYBODY, ANYBODY)))
def test_who_may_hear_agrees_with_brute_force(follows: dict[str, list[str]], hidden: set[str], parted: set[tuple[str, str]]) -> None:
    """AUTH-4, AUTH-5, AUTH-8: nobody hears the hidden; of two who are parted neither hears the other."""
    found = permitted(audiences(follows, set(USERS)), hidden, parted)
    assert {(user, follower) for user, theirs in found.items() for follower in theirs} == {
        (user, follower)
        for follower in USERS
        for user in follows[follower]
        if user not in hidden and (user, follower) not in parted and (follower, user) not in parted
    }


@settings(max_examples=60)
@given(FOLLOWS, st.sets(ANYBODY), st.lists(ANYBODY, max_size=12), st.randoms(use_true_random=False))
def test_the_ledger_agrees_with_sets_whatever_arrives(
    follows: dict[str, list[str]], connected: set[str], publishers: list[str], rng: random.Random
) -> None:
    audience_of = audiences(follows, connected)
    ledger = Ledger(audience_of, SITE_OF)
    expected = {
        (f"e{index}", follower) for index, publisher in enumerate(publishers) for follower in connected if publisher in follows[follower]
    }
    for index, publisher in enumerate(publishers):
        ledger.sent(f"e{index}", publisher, float(index))
    arrivals = [(f"e{rng.randrange(14)}", rng.choice(USERS)) for _ in range(60)]
    for event_id, follower in arrivals:
        ledger.received(follower, event_id, 20.0)

    right = [arrival for arrival in arrivals if arrival in expected]
    crossing = {pair for pair in set(right) if SITE_OF[publishers[int(pair[0][1:])]] != SITE_OF[pair[1]]}
    found = ledger.summary()
    assert found.expected == len(expected)
    assert found.delivered == len(set(right))
    assert found.duplicated == len(right) - len(set(right))
    assert found.misrouted == len(arrivals) - len(right)
    assert set(ledger.missing()) == expected - set(right)
    assert found.lost == len(expected - set(right)) == ledger.outstanding
    assert found.cross_site_share == (len(crossing) / len(set(right)) if right else 0.0)


def test_a_complete_run_has_nothing_lost_duplicated_or_misrouted() -> None:
    ledger = two_friends_abroad()
    ledger.received("u3", "e", 10.002)
    ledger.received("u1", "e", 10.030)
    found = ledger.summary()
    assert (found.events, found.expected, found.delivered, found.lost, found.duplicated, found.misrouted) == (1, 2, 2, 0, 0, 0)
    assert found.latency_ms["local"].max == pytest.approx(2.0, abs=0.01)
    assert found.latency_ms["cross_site"].max == pytest.approx(30.0, abs=0.01)
    assert found.cross_site_share == 0.5


def test_a_planted_loss_is_found_and_named() -> None:
    ledger = two_friends_abroad()
    ledger.received("u3", "e", 10.1)
    assert list(ledger.missing()) == [("e", "u1")]
    assert (ledger.summary().expected, ledger.summary().lost) == (2, 1)


def test_a_planted_duplicate_is_found_and_not_taken_for_the_missing_one() -> None:
    ledger = two_friends_abroad()
    ledger.received("u3", "e", 10.1)
    ledger.received("u3", "e", 10.2)
    found = ledger.summary()
    assert (found.delivered, found.duplicated, found.lost) == (1, 1, 1)


@pytest.mark.parametrize(("follower", "event_id"), [("u5", "e"), ("u0", "e"), ("u3", "never sent")])
def test_an_arrival_at_the_wrong_user_or_of_an_unknown_event_is_misrouted(follower: str, event_id: str) -> None:
    ledger = two_friends_abroad()
    ledger.received(follower, event_id, 10.1)
    found = ledger.summary()
    assert (found.delivered, found.misrouted, found.lost) == (0, 1, 2)


def test_an_excused_delivery_that_arrives_all_the_same_counts_as_delivered() -> None:
    ledger = two_friends_abroad()
    ledger.excuse_event("e")
    ledger.received("u1", "e", 10.1)
    ledger.received("u1", "e", 10.1)
    found = ledger.summary()
    assert (found.expected, found.delivered, found.lost, found.excused, found.duplicated) == (1, 1, 0, 1, 1)


def test_an_event_that_was_not_accepted_is_excused_everywhere() -> None:
    ledger = two_friends_abroad()
    ledger.excuse_event("e")
    assert (ledger.summary().expected, ledger.summary().lost, ledger.summary().excused) == (0, 0, 2)


def test_what_is_late_counts_for_events_sent_before_a_time() -> None:
    ledger = two_friends_abroad()
    ledger.received("u1", "e", 10.1)
    assert [ledger.late(before_s) for before_s in (9.0, 10.0, 10.1, 99.0)] == [0, 0, 1, 1]


def test_the_latest_latencies_are_those_of_the_last_deliveries() -> None:
    ledger = Ledger({"star": ("f0", "f1", "f2")}, dict.fromkeys(["star", "f0", "f1", "f2"], "sto"))
    ledger.sent("e", "star", 0.0)
    for number, at_s in enumerate((9.0, 0.001, 0.002)):
        ledger.received(f"f{number}", "e", at_s)
    latency = ledger.latest("local", 2)
    assert [latency.p50, latency.max] == pytest.approx([1.0, 2.0])
    assert ledger.latest("cross_site", 2) == Latency(p50=None, p99=None, max=None)


def test_an_event_id_is_used_once_and_its_publisher_is_known() -> None:
    ledger = two_friends_abroad()
    with pytest.raises(ValueError, match="'e' was sent before"):
        ledger.sent("e", "u1", 11.0)
    with pytest.raises(KeyError):
        ledger.sent("f", "a stranger", 11.0)
    assert ledger.events == 1


def test_percentiles_are_by_nearest_rank() -> None:
    followers = [f"f{number}" for number in range(200)]
    ledger = Ledger({"star": followers}, dict.fromkeys(["star", *followers], "sto"))
    ledger.sent("e", "star", 0.0)
    for number, follower in enumerate(reversed(followers), 1):
        ledger.received(follower, "e", number / 1000)
    latency = ledger.summary().latency_ms["local"]
    assert [latency.p50, latency.p99, latency.max] == pytest.approx([100.0, 198.0, 200.0], abs=0.01)


def test_nothing_sent_gives_zeros_and_no_latency() -> None:
    nothing = Latency(p50=None, p99=None, max=None)
    assert Ledger({}, {}).summary() == LedgerSummary(
        events=0,
        expected=0,
        delivered=0,
        lost=0,
        duplicated=0,
        misrouted=0,
        excused=0,
        latency_ms={"local": nothing, "cross_site": nothing},
        cross_site_share=0.0,
    )


def test_a_delivery_takes_less_than_eight_bytes() -> None:
    followers = [f"f{number}" for number in range(1_000)]
    ledger = Ledger({"star": followers}, dict.fromkeys(["star", *followers], "sto"))
    tracemalloc.start()
    for event in range(60):
        ledger.sent(f"e{event}", "star", 0.0)
        for follower in followers:
            ledger.received(follower, f"e{event}", 1.0)
    used_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ledger.delivered == 60_000
    assert used_bytes < 60_000 * 8
