"""Where events were recorded that came with topics from other windows, and what somebody has of them."""

from broker.window_origins import Origins, SeenStamps


def test_a_place_is_known_while_its_event_is_here_and_the_horizon_of_its_window_rises_when_it_goes() -> None:
    """DPS-2, DPS-13."""
    origins = Origins()
    for stamp in (1, 2, 3):
        origins.add(stamp, (5, 10 * stamp))
    assert (len(origins), 2 in origins, origins.get(2), origins.get(4)) == (3, True, (5, 20), None)
    origins.evict(1)
    origins.evict(4)
    origins.expire(2, 60.0)
    assert [origins.forget(stamp) for stamp in (1, 2, 4)] == [True, True, False]
    assert (origins.evicted(5), origins.evicted(6)) == (10, 0)
    assert (origins.too_old(5, 60.0), origins.too_old(5, 120.0)) == (20, 0)
    origins.keep([6])
    assert (origins.evicted(5), origins.too_old(5, 60.0)) == (0, 0)


def test_who_has_stamps_has_what_was_recorded_up_to_them_and_all_that_is_older_than_the_owners_since_then() -> None:
    """DPS-13."""
    seen = SeenStamps({5: 10, 6: 7}, frozenset({6, 8}))
    assert [seen.has(place) for place in ((6, 7), (6, 8), (8, 1), (5, 10), (5, 11), (4, 99))] == [True, False, False, True, False, True]
    assert [seen.lacks_older(place) for place in ((5, 11), (5, 10), (6, 8), (4, 99))] == [True, False, False, False]
