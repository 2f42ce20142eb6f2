"""rule_engine.local_time: times of day on days when clocks are put forward or back."""

from datetime import UTC, date, datetime, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rule_engine.local_time import instant_ms, local_date, zone_named


def at_utc(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("zone", "day", "at", "instant"),
    [
        ("UTC", "2026-03-29", "02:30", "2026-03-29T02:30"),
        ("Asia/Kathmandu", "2026-03-29", "02:30", "2026-03-28T20:45"),
        # Put forward from 02:00 to 03:00.
        ("Europe/Stockholm", "2026-03-29", "01:59", "2026-03-29T00:59"),
        ("Europe/Stockholm", "2026-03-29", "02:00", "2026-03-29T01:00"),
        ("Europe/Stockholm", "2026-03-29", "02:59", "2026-03-29T01:00"),
        ("Europe/Stockholm", "2026-03-29", "03:00", "2026-03-29T01:00"),
        # Put back from 03:00 to 02:00.
        ("Europe/Stockholm", "2026-10-25", "02:30", "2026-10-25T00:30"),
        ("Europe/Stockholm", "2026-10-25", "03:00", "2026-10-25T02:00"),
        # By half an hour.
        ("Australia/Lord_Howe", "2026-10-04", "02:15", "2026-10-03T15:30"),
        ("Australia/Lord_Howe", "2026-04-05", "01:45", "2026-04-04T14:45"),
        # At midnight.
        ("America/Sao_Paulo", "2018-11-04", "00:00", "2018-11-04T03:00"),
        # A whole day was left out.
        ("Pacific/Apia", "2011-12-30", "08:00", "2011-12-30T10:00"),
    ],
)
def test_a_time_in_a_gap_is_its_end_and_of_two_the_first_counts(zone: str, day: str, at: str, instant: str) -> None:
    assert instant_ms(zone_named(zone), date.fromisoformat(day), time.fromisoformat(at)) == at_utc(instant)


@given(
    st.sampled_from(["Europe/Stockholm", "America/New_York", "Australia/Lord_Howe", "America/Havana", "Africa/Casablanca"]),
    st.dates(date(2020, 1, 1), date(2030, 12, 31)),
    st.times(),
)
def test_an_instant_shows_its_time_or_the_first_one_after_the_gap(zone: str, day: date, at: time) -> None:
    at = at.replace(microsecond=0)
    shown = datetime.fromtimestamp(instant_ms(zone_named(zone), day, at) / 1000, zone_named(zone))
    assert shown.date() == day
    if shown.time() != at:
        before = datetime.fromtimestamp(shown.timestamp() - 1, zone_named(zone)).time()
        assert before < at < shown.time()
    assert shown.fold == 0


def test_the_date_is_that_of_the_place() -> None:
    late = at_utc("2026-11-21T20:00")
    assert local_date(zone_named("UTC"), late) == date(2026, 11, 21)
    assert local_date(zone_named("Asia/Tokyo"), late) == date(2026, 11, 22)
