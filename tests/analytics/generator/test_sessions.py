"""Users who come and go, and their subscriptions with them (thesis 5.1.2), counted from the rows that are written."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from numpy.typing import NDArray

from analytics.generator.profile import profile, rng, site_of
from analytics.generator.services import SubscriptionPairs, with_others
from analytics.generator.sessions import Stays, expected_log_ins, sample, sessions, stays, subscription_log
from analytics.parts import as_table
from analytics.schema import SCHEMAS
from infra.kernel.trace import SERVICES

HOUR_MS = 3_600_000
SPOTIFY = profile("spotify", 0.01, 1)
FEW = SubscriptionPairs(np.array([4, 4, 7]), np.array([0, 1, 0], np.int8), np.array([1, 2, 1]))


@pytest.fixture(scope="module")
def pairs() -> SubscriptionPairs:
    """Returns pairs with sizes by the power law of the profile, its tail to 2000 included: large sizes make live subscriptions uneven."""
    shares = np.cumsum(np.arange(1, 2001) ** -2.35)
    size = 1 + np.searchsorted(shares / shares[-1], (np.arange(SPOTIFY.subscribers) + 0.5) / SPOTIFY.subscribers)
    subscriber = np.repeat(np.arange(SPOTIFY.subscribers), rng(1, "sizes").permutation(size))
    return with_others(SPOTIFY, subscriber, np.arange(len(subscriber)) % SPOTIFY.topics, rng(1, "others"))


@pytest.fixture(scope="module")
def found(pairs: SubscriptionPairs) -> Stays:
    return stays(SPOTIFY, pairs, rng(1, "stays"))


@pytest.fixture(scope="module")
def visits(found: Stays) -> pa.Table:
    return as_table(SCHEMAS["sessions"], sessions(SPOTIFY, found))


@pytest.fixture(scope="module")
def log(found: Stays, pairs: SubscriptionPairs) -> pa.Table:
    return as_table(SCHEMAS["subscription_log"], subscription_log(SPOTIFY, found, pairs))


def change(table: pa.Table) -> NDArray[np.int64]:
    """Returns 1 where something begins, and -1 where it ends."""
    begins = pc.is_in(table["action"], pa.array(["join", "subscribe"]))
    return np.where(begins.to_numpy(), 1, -1)


def hour(table: pa.Table) -> NDArray[np.int64]:
    time_ms: NDArray[np.int64] = table["time_ms"].to_numpy()
    return (time_ms - SPOTIFY.start_ms) // HOUR_MS


def live(table: pa.Table) -> NDArray[np.int64]:
    """Returns what is live at the end of each hour, by day and hour."""
    changed = np.bincount(hour(table), change(table), minlength=240).astype(np.int64)
    return np.cumsum(changed).reshape(10, 24)


def requests(log: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the hours of subscribing and of unsubscribing, without what was live when the period began."""
    step, asked = change(log), log["time_ms"].to_numpy() > SPOTIFY.start_ms
    return hour(log)[asked & (step > 0)], hour(log)[asked & (step < 0)]


def test_a_user_joins_and_leaves_by_turns(visits: pa.Table) -> None:
    order = np.argsort(visits["user"].to_numpy(), kind="stable")
    user, step, time_ms = visits["user"].to_numpy()[order], change(visits)[order], visits["time_ms"].to_numpy()[order]
    same = np.diff(user) == 0
    assert np.all(step[np.flatnonzero(np.diff(user, prepend=-1))] == 1)
    assert np.all((step[1:] == -step[:-1])[same])
    assert np.all((np.diff(time_ms) > 0)[same])


def test_rows_rise_in_time_inside_the_period(visits: pa.Table, log: pa.Table) -> None:
    for table in (visits, log):
        time_ms = table["time_ms"].to_numpy()
        assert np.all(np.diff(time_ms) >= 0)
        assert SPOTIFY.start_ms <= time_ms[0] <= time_ms[-1] < SPOTIFY.end_ms


def test_every_pair_is_live_at_some_time(log: pa.Table, pairs: SubscriptionPairs) -> None:
    live_at_some_time = log.group_by(["subscriber", "service", "topic"]).aggregate([])
    assert len(live_at_some_time) == len(pairs.topic)


def test_subscriptions_begin_and_end_with_the_sessions_of_their_user() -> None:
    few = stays(SPOTIFY, FEW, rng(2, "stays"))
    visits = as_table(SCHEMAS["sessions"], sessions(SPOTIFY, few)).to_pylist()
    log = as_table(SCHEMAS["subscription_log"], subscription_log(SPOTIFY, few, FEW)).to_pylist()
    follows = {4: [("presence", 1), ("playlist", 2)], 7: [("presence", 1)]}
    meant = {"join": "subscribe", "leave": "unsubscribe"}
    expected = [(row["time_ms"], row["user"], *pair, row["site"], meant[row["action"]]) for row in visits for pair in follows[row["user"]]]
    assert [tuple(row.values()) for row in log] == expected
    assert {row["site"] for row in visits} == {SPOTIFY.sites[code] for code in site_of(SPOTIFY, np.array([4, 7]))}


def test_as_many_subscriptions_end_as_begin(log: pa.Table) -> None:
    """WA-13, SB-58"""
    begun, ended = requests(log)
    assert abs(len(begun) - len(ended)) < 0.02 * len(begun)


def test_live_subscriptions_are_nearly_the_same_at_the_same_hour_of_all_days(log: pa.Table) -> None:
    """WA-13, SB-58: the largest difference between days."""
    at = live(log)
    assert np.all(np.ptp(at, axis=0) < 0.05 * at.mean(axis=0))


def test_the_period_begins_in_the_state_that_it_is_in_for_the_rest_of_it(log: pa.Table) -> None:
    at = live(log).ravel()
    assert at[0] == pytest.approx(at.mean(), rel=0.03)
    assert at[-1] == pytest.approx(at[0], rel=0.03)


def test_most_live_subscriptions_are_of_presence_at_every_hour(log: pa.Table) -> None:
    """WA-14"""
    rows = log.select(["time_ms", "service", "action"])
    services = {name: live(rows.filter(pc.field("service") == name)) for name in SERVICES}
    assert np.all(services["presence"] > 0.5 * sum(services.values()))
    assert services["playlist"].min() > services["artist"].max()
    assert services["artist"].min() > services["social"].max()


def test_subscribing_and_unsubscribing_have_their_peak_in_the_evening_and_their_trough_at_night(log: pa.Table) -> None:
    """Thesis 5.1.2: evening peak and early-morning trough, both curves nearly equal."""
    begun, ended = (np.bincount(each % 24, minlength=24) for each in requests(log))
    assert abs(begun.argmax() + 0.5 - 18) <= 1.5
    assert abs(begun.argmin() + 0.5 - 2) <= 1.5
    assert np.corrcoef(begun, ended)[0, 1] > 0.95


def test_the_week_of_subscribing_is_that_of_log_ins(log: pa.Table) -> None:
    """WA-13: presence publications are lowest on Saturday; subscribing is highest then, by far more than chance gives."""
    begun = np.bincount(requests(log)[0] // 24, minlength=10)
    assert begun[[2, 9]].mean() > 1.1 * begun[[0, 4, 5, 6, 7]].mean()


def test_some_users_come_daily_and_many_about_once_a_week(found: Stays) -> None:
    log_ins = np.bincount(found.row[found.begin_ms > SPOTIFY.start_ms], minlength=len(found.user))
    assert np.mean(log_ins) == pytest.approx(expected_log_ins(SPOTIFY), rel=0.03)
    assert np.mean(log_ins >= SPOTIFY.days) > 0.1
    assert np.mean(log_ins <= 2) > 0.2


def test_visits_last_about_forty_minutes_and_some_last_hours(found: Stays) -> None:
    length_ms = (found.end_ms - found.begin_ms)[found.mobile & (found.begin_ms > SPOTIFY.start_ms)]
    assert np.median(length_ms) == pytest.approx(40 * 60_000, rel=0.1)
    assert 0.01 < np.mean(length_ms > 3 * HOUR_MS) < 0.2


def test_about_two_in_five_users_are_online_and_use_both_devices(visits: pa.Table) -> None:
    assert live(visits).mean() / SPOTIFY.subscribers == pytest.approx(0.42, abs=0.08)
    assert 0.05 < np.mean(pc.equal(visits["device"], "mobile").to_numpy()) < 0.5


def test_the_same_stream_of_chance_gives_the_same_rows() -> None:
    """WA-15"""
    one, same, other = (sessions(SPOTIFY, stays(SPOTIFY, FEW, rng(seed, "stays"))) for seed in (1, 1, 2))
    assert as_table(SCHEMAS["sessions"], one).equals(as_table(SCHEMAS["sessions"], same))
    assert one["time_ms"].tolist() != other["time_ms"].tolist()


def test_a_sample_has_whole_users(pairs: SubscriptionPairs) -> None:
    some = sample(pairs, 0.1, rng(1, "sample"))
    users, sizes = np.unique(some.subscriber, return_counts=True)
    assert len(users) == pytest.approx(0.1 * SPOTIFY.subscribers, rel=0.06)
    assert np.array_equal(sizes, np.bincount(pairs.subscriber)[users])


def test_nobody_makes_no_rows() -> None:
    nobody = SubscriptionPairs(FEW.subscriber[:0], FEW.service[:0], FEW.topic[:0])
    none = stays(SPOTIFY, nobody, rng(1, "stays"))
    assert len(as_table(SCHEMAS["sessions"], sessions(SPOTIFY, none))) == 0
    assert len(as_table(SCHEMAS["subscription_log"], subscription_log(SPOTIFY, none, nobody))) == 0
