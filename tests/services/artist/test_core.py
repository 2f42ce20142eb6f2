"""What an item of a catalogue becomes, and when the daily run is due."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel.errors import ConfigError, Refused
from infra.kernel.events import Submission, accept
from infra.kernel.topics import format_topic
from services.artist.core import DAY_S, CatalogueItem, is_due, parse_line, time_of_day_s

ALBUM = {"artist": "a1", "name": "Sigur Rós", "type": "album", "id": "al-7", "title": "Valtari", "released": "2012-05-23"}
SIX_S = 6 * 3600


def item(**fields: str) -> CatalogueItem:
    return parse_line(json.dumps(ALBUM | fields).encode())


@pytest.mark.parametrize(("kind", "feed"), [("album", "new-album"), ("track", "new-track"), ("playlist", "artist-playlist")])
def test_each_type_of_item_has_its_feed(kind: str, feed: str) -> None:
    """SB-8: new album, new track, playlist created by an artist."""
    assert format_topic(item(type=kind).topic) == f"hm://notifications/feed/a1%{feed}/"


def test_an_item_is_known_by_artist_type_and_id_alone() -> None:
    assert item(title="Another title").key == item().key
    assert len({item().key, item(artist="a2").key, item(type="track").key, item(id="al-8").key}) == 4
    assert item(artist="a", id="bc").key != item(artist="ab", id="c").key


def test_the_notification_id_is_one_that_every_door_takes() -> None:
    accept(Submission(format_topic(item().topic), "album", b"{}", item().notification_id()), 0, "", 100)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "code", "reason"),
    [
        (b"{", "bad-json", "truncated"),
        (b'{"more":' + b"[" * 5000, "bad-json", "recursion"),
        (b"[]", "bad-field", "object"),
        (b'{"artist":"a1","type":"album","id":"x"}', "bad-field", "title"),
        (json.dumps(ALBUM | {"artist": "a/1"}).encode(), "bad-field", "artist"),
        (json.dumps(ALBUM | {"type": "single"}).encode(), "bad-field", "single"),
        (json.dumps(ALBUM | {"title": "x" * 501}).encode(), "bad-field", "title"),
        (b'{"artist":"a1","type":"album","id":"x","title":"\xff"}', "bad-utf8", "utf-8"),
    ],
)
def test_a_line_that_is_no_item_is_refused_with_what_is_wrong(line: bytes, code: str, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_line(line)
    assert refused.value.code.name == code
    assert reason in refused.value.reason.lower()


@pytest.mark.parametrize(("text", "seconds"), [("00:00", 0), ("06:00", SIX_S), ("23:59", DAY_S - 60)])
def test_a_time_of_day_is_hours_and_minutes(text: str, seconds: int) -> None:
    assert time_of_day_s(text) == seconds


@pytest.mark.parametrize("text", ["", "6:00", "06.00", "24:00", "12:60", "ab:cd", "06:00:00", "-1:00"])
def test_what_is_no_time_of_day_is_told_with_an_example(text: str) -> None:
    with pytest.raises(ConfigError, match="time of day"):
        time_of_day_s(text)


def test_a_run_is_due_once_a_day_at_its_moment() -> None:
    day_s = 20_000 * DAY_S
    assert is_due(day_s + 1, SIX_S, None)
    assert not is_due(day_s + SIX_S - 1, SIX_S, started_s=day_s - DAY_S + SIX_S)
    assert is_due(day_s + SIX_S, SIX_S, started_s=day_s - DAY_S + SIX_S)
    assert not is_due(day_s + SIX_S + 1, SIX_S, started_s=day_s + SIX_S)


def test_a_clock_that_was_wrong_by_a_year_does_not_stop_the_runs_for_a_year() -> None:
    now_s = 20_000.0 * DAY_S + SIX_S
    assert is_due(now_s, SIX_S, started_s=now_s + 365 * DAY_S)
    assert not is_due(now_s, SIX_S, started_s=now_s + 60)


@settings(max_examples=50)
@given(at_s=st.integers(0, DAY_S - 1), start_s=st.integers(0, 10**9), step_s=st.integers(60, 7200))
def test_over_ten_days_a_run_starts_ten_times_however_often_the_clock_is_looked_at(at_s: int, start_s: int, step_s: int) -> None:
    started_s: float | None = float(start_s)
    runs = 0
    for now_s in range(start_s + 1, start_s + 10 * DAY_S + step_s, step_s):
        if is_due(now_s, at_s, started_s):
            started_s, runs = float(now_s), runs + 1
    assert runs in (10, 11)
