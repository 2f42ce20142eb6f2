"""The score of a peer is what the specification says, P1 to P7, beside the same in fractions."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from overlay.protocol import gossip_scores as places
from overlay.protocol.gossip_scores import (
    COUNTERS,
    DELIVERED,
    FAILED,
    FIRST,
    INVALID,
    MOST,
    NOT_IN_MESH,
    ONE,
    SETTINGS,
    count_delivery,
    count_failure,
    count_first,
    count_invalid,
    deficit,
    fade,
    faded,
    peer_score,
    topic_score,
)

MILLION = 1_000_000


def settings_of(**values: int) -> list[int]:
    """Returns settings by their names, in small letters; all others are 0."""
    made = [0] * SETTINGS
    for name, value in values.items():
        made[getattr(places, name.upper())] = value
    return made


weights = st.integers(-20, 20)
amounts = st.integers(0, 50)


@given(weights, weights, weights, weights, weights, amounts, amounts, amounts, amounts, st.integers(-1, 200))
def test_a_topic_adds_what_the_specification_says(
    time: int, first: int, delivery: int, failure: int, invalid: int, firsts: int, delivered: int, failed: int, wrong: int, seconds: int
) -> None:
    settings = settings_of(
        topic_weight=2 * ONE,
        time_weight=time * ONE,
        time_quantum_us=MILLION,
        time_cap=100 * ONE,
        first_weight=first * ONE,
        delivery_weight=delivery * ONE,
        delivery_least=20 * ONE,
        delivery_active_us=30 * MILLION,
        failure_weight=failure * ONE,
        invalid_weight=invalid * ONE,
    )
    counters = [firsts * ONE, delivered * ONE, failed * ONE, wrong * ONE]
    lacking = max(0, 20 - delivered) if seconds > 30 else 0
    expected = min(max(seconds, 0), 100) * time + firsts * first + lacking**2 * delivery + failed * failure + wrong**2 * invalid
    in_mesh_us = seconds * MILLION if seconds >= 0 else NOT_IN_MESH
    assert topic_score(settings, counters, 0, in_mesh_us) == 2 * expected * MILLION


@given(st.integers(-500, 500), st.integers(-50, 50), st.integers(0, 12), st.integers(0, 20))
def test_a_peer_has_the_capped_sum_of_its_topics_and_what_is_of_itself(topics: int, opinion: int, on_host: int, misbehaved: int) -> None:
    settings = settings_of(topics_cap=100 * MILLION, application_weight=3 * ONE, host_weight=-ONE, host_most=4, behaviour_weight=-2 * ONE)
    expected = min(topics, 100) + 3 * opinion - max(0, on_host - 4) ** 2 - 2 * misbehaved**2
    assert peer_score(settings, topics * MILLION, opinion * ONE, on_host, misbehaved * ONE) == expected * MILLION


def test_topics_without_a_cap_count_whole() -> None:
    assert peer_score(settings_of(), 10**12, 0, 0, 0) == 10**12


def test_first_and_mesh_deliveries_are_counted_up_to_their_caps() -> None:
    settings, counters = settings_of(first_cap=2 * ONE, delivery_cap=ONE), [0] * (2 * COUNTERS)
    for _ in range(3):
        count_first(settings, counters, COUNTERS)
        count_delivery(settings, counters, COUNTERS)
        count_invalid(counters, COUNTERS)
    assert counters == [0] * COUNTERS + [2 * ONE, ONE, 0, 3 * ONE]
    assert (FIRST, DELIVERED, FAILED, INVALID) == (0, 1, 2, 3)


def test_what_was_lacking_is_kept_when_a_peer_leaves_the_mesh() -> None:
    settings = settings_of(delivery_least=5 * ONE, delivery_active_us=10 * MILLION)
    counters = [0, 2 * ONE, ONE, 0]
    count_failure(settings, counters, 0, 10 * MILLION)
    assert counters[FAILED] == ONE
    count_failure(settings, counters, 0, 10 * MILLION + 1)
    assert counters[FAILED] == 10 * ONE
    assert deficit(settings, counters, 0, NOT_IN_MESH) == 0


def test_counters_never_grow_so_large_that_a_score_would_not_fit() -> None:
    counters = [0, 0, MOST, MOST]
    count_invalid(counters, 0)
    count_failure(settings_of(delivery_least=MOST), counters, 0, 1)
    assert counters == [0, 0, MOST, MOST]
    settings = settings_of(topic_weight=ONE, invalid_weight=-100 * ONE, behaviour_weight=-100 * ONE)
    score = peer_score(settings, topic_score(settings, counters, 0, NOT_IN_MESH), 0, 0, MOST)
    assert -(1 << 63) < score < 0


@given(st.integers(0, 100_000), st.integers(1, 999), st.integers(1, 50))
def test_counters_fade_by_their_factor_and_are_0_below_the_least(counter: int, keeps: int, least: int) -> None:
    left = faded(counter, keeps, least)
    assert left < counter or counter == 0
    assert left == 0 or (left >= least and 0 <= Fraction(counter * keeps, 1000) - left < 1)


def test_all_counters_of_a_topic_fade() -> None:
    settings = settings_of(first_keeps=900, least=10)
    counters = [0] * COUNTERS + [100] * COUNTERS
    fade(settings, counters, COUNTERS)
    assert counters == [0] * COUNTERS + [90, 0, 0, 0]


def test_every_setting_has_a_place_of_its_own() -> None:
    counters = {"ONE", "MOST", "NOT_IN_MESH", "FIRST", "DELIVERED", "FAILED", "INVALID", "COUNTERS", "SETTINGS"}
    found = [value for name, value in vars(places).items() if name.isupper() and name not in counters]
    assert sorted(found) == list(range(SETTINGS))
