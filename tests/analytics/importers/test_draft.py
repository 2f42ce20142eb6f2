"""The tables that importers make: faults are dropped and counted, rows get their order, the period covers whole units."""

import numpy as np

from analytics.importers.draft import DAY_MS, Draft


def columns(draft: Draft, table: str, *names: str) -> list[tuple[int, ...]]:
    return list(zip(*(draft.tables[table][name].tolist() for name in names), strict=True))


def test_only_in_services_of_users_a_topic_is_the_user_of_that_number() -> None:
    one = np.array([1, 1], dtype=np.int64)
    users, items = Draft("social"), Draft("playlist")
    for draft in (users, items):
        draft.begin(np.array([5, 6], dtype=np.int64), one, np.array([1, 2], dtype=np.int64))
    assert columns(users, "subscription_log", "topic") == columns(users, "subscriptions", "topic") == [(2,)]
    assert columns(items, "subscription_log", "topic") == columns(items, "subscriptions", "topic") == [(1,), (2,)]
    assert (users.notes, items.notes) == (["dropped: 1 rows of a user who follows the same user"], [])


def test_a_pair_that_comes_again_began_the_first_time() -> None:
    draft = Draft()
    draft.begin(np.array([9, 5, 7], dtype=np.int64), np.array([1, 1, 1], dtype=np.int64), np.array([2, 2, 3], dtype=np.int64))
    assert columns(draft, "subscription_log", "time_ms", "topic") == [(5, 2), (7, 3)]
    assert draft.notes == ["dropped: 1 repeated pairs"]


def test_the_period_covers_the_whole_units_of_all_times() -> None:
    draft = Draft(unit_ms=DAY_MS)
    topic = np.array([1], dtype=np.int64)
    draft.begin(np.array([DAY_MS + 5], dtype=np.int64), topic, topic + 1)
    assert draft.period_ms == (DAY_MS, 2 * DAY_MS)
    draft.publish(np.array([4 * DAY_MS], dtype=np.int64), topic)
    assert draft.period_ms == (DAY_MS, 5 * DAY_MS)


def test_edges_told_in_both_directions_are_no_repetition() -> None:
    draft = Draft()
    draft.follow(np.array([1, 2], dtype=np.int64), np.array([2, 1], dtype=np.int64), mutual=True)
    assert columns(draft, "subscriptions", "subscriber", "topic") == [(1, 2), (2, 1)]
    assert draft.notes == []
