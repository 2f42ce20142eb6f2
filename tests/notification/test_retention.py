"""The clock by which what is stored grows old: it follows the machine's, and does not believe leaps."""

from hypothesis import given
from hypothesis import strategies as st

from notification.retention import DAY_MS, HOLD_MS, LEAP_MS, Lived, lived_on

RETENTION_MS = 90 * DAY_MS
START_MS = 1_790_000_000_000
MINUTE_MS = 60_000


def lived(*walls_ms: int, retention_ms: int = RETENTION_MS) -> Lived:
    """Returns how far time has come after a clock has said all that, from `START_MS` on."""
    now = Lived(START_MS)
    for wall_ms in walls_ms:
        now = lived_on(now, START_MS + wall_ms, retention_ms)
    return now


def test_time_follows_a_clock_that_goes_on_and_one_that_goes_back() -> None:
    assert lived(MINUTE_MS, LEAP_MS, 2 * LEAP_MS) == Lived(START_MS + 2 * LEAP_MS)
    assert lived(LEAP_MS, -500 * DAY_MS) == Lived(START_MS - 500 * DAY_MS)


def test_a_leap_is_not_believed_and_leaves_nothing_behind_when_the_clock_is_right_again() -> None:
    leapt = lived(100 * DAY_MS)
    assert (leapt.trusted_ms, leapt.in_doubt) == (START_MS, True)
    assert lived(100 * DAY_MS, 100 * DAY_MS + HOLD_MS // 2, MINUTE_MS) == Lived(START_MS + MINUTE_MS)


def test_a_clock_that_goes_on_for_long_enough_after_a_leap_is_believed() -> None:
    """A module that was down for a hundred days goes on as before, a week late."""
    walls_ms = [100 * DAY_MS + minutes * MINUTE_MS for minutes in range(0, HOLD_MS // MINUTE_MS, 60)]
    assert lived(*walls_ms).in_doubt
    assert lived(*walls_ms, 100 * DAY_MS + HOLD_MS) == Lived(START_MS + 100 * DAY_MS + HOLD_MS)


def test_a_second_leap_begins_the_doubt_anew() -> None:
    walls_ms = [100 * DAY_MS, 100 * DAY_MS + HOLD_MS - MINUTE_MS]
    assert lived(*walls_ms, 300 * DAY_MS).since_ms == START_MS + 300 * DAY_MS
    assert lived(200 * DAY_MS, 100 * DAY_MS).since_ms == START_MS + 100 * DAY_MS


def test_a_short_retention_time_has_short_leaps_and_a_short_wait() -> None:
    hour_ms = DAY_MS // 24
    assert lived(7 * hour_ms, retention_ms=DAY_MS).in_doubt
    hours = [7 * hour_ms + n * hour_ms for n in range(25)]
    assert not lived(*hours, retention_ms=DAY_MS).in_doubt


@given(st.lists(st.integers(-400 * DAY_MS, 400 * DAY_MS), max_size=30))
def test_no_step_takes_time_further_than_a_leap_unless_the_clock_went_on_all_the_while(walls_ms: list[int]) -> None:
    now = Lived(START_MS)
    for wall_ms in walls_ms:
        after = lived_on(now, START_MS + wall_ms, RETENTION_MS)
        assert after.trusted_ms - now.trusted_ms <= LEAP_MS or (now.in_doubt and START_MS + wall_ms - now.since_ms >= HOLD_MS)
        assert after.trusted_ms in (now.trusted_ms, START_MS + wall_ms)
        now = after
