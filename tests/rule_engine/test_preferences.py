"""rule_engine.preferences: what users may set, when their quiet hours end and their digests are due."""

import re
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.errors import Refused
from infra.kernel.topics import parse_topic
from rule_engine.fields import MAX_MUTED
from rule_engine.preferences import DAYS, Preferences, Quiet, check, digest_due_ms, is_muted, parse, quiet_until_ms

DAY_MS = 86_400_000
FULL = b"""{"email": "ann@example.org", "channels": {"new-album": {"email": false}, "playlist": {"push": true}},
"muted": ["artist:a1", "user:bob", "playlist:eve/mix"], "tz": "Europe/Stockholm", "quiet": {"from": "22:00", "to": "07:00"},
"digest": "weekly", "digest_at": "18:30", "digest_day": "friday"}"""


def at_utc(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def text_of(at_ms: int | None) -> str | None:
    return None if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC).isoformat()[:16]


def test_everything_may_be_set_and_is_read_back_the_same() -> None:
    preferences = parse(FULL)
    assert parse(msgspec.json.encode(preferences)) == preferences
    assert preferences.quiet == Quiet(since="22:00", until="07:00")
    assert not preferences.allows("new-album", "email")
    assert preferences.allows("playlist", "push")


def test_who_sets_nothing_is_told_everything() -> None:
    preferences = parse(b"{}")
    assert preferences == Preferences()
    assert preferences.allows("new-album", "email")
    assert quiet_until_ms(preferences, 0) is None


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ('{"mutd": []}', "bad-field: unknown field mutd; did you mean muted?"),
        ('{"quiet": {"from": "22:00", "two": "07:00"}}', "bad-field: unknown field two; did you mean to?"),
        ('{"quiet": {"from": "22:00"}}', "bad-field: Object missing required field to - at $.quiet"),
        ('{"email": 3}', "bad-field: Expected str | null, got int - at $.email"),
        ('{"email": "ann"}', "bad-field: email must be an address such as ann@example.org"),
        ('{"email": "ann@example.org\\r\\nBcc: eve@example.org"}', "bad-field: email must be an address"),
        ('{"email": "ann@example.org,eve@example.org"}', "bad-field: email must be an address"),
        (f'{{"email": "ann@{"a" * 260}"}}', "bad-field: email must be an address"),
        ('{"channels": {"new-albun": {}}}', "bad-field: channels: no such class: new-albun; did you mean new-album?"),
        ('{"channels": {"playlist": {"mail": true}}}', "bad-field: channels.playlist: no such channel: mail; did you mean email?"),
        ('{"channels": {"playlist": {"email": 1}}}', "bad-field: Expected bool, got int"),
        ('{"muted": ["a1"]}', "bad-field: muted: 'a1' must be artist:<id>, user:<name> or playlist:<owner>/<id>"),
        ('{"muted": ["playlist:mix"]}', "bad-field: muted: 'playlist:mix' must be"),
        ('{"tz": "Stockholm"}', "bad-field: tz must be a name of the IANA time zone database, such as Europe/Stockholm"),
        ('{"tz": "Europe"}', "bad-field: tz must be"),
        ('{"tz": "../../etc/passwd"}', "bad-field: tz must be"),
        ('{"tz": ""}', "bad-field: tz must be"),
        ('{"digest_at": "8:00"}', "bad-field: digest_at must be a time of day such as 22:00"),
        ('{"quiet": {"from": "24:00", "to": "07:00"}}', "bad-field: quiet.from must be a time of day"),
        ('{"quiet": {"from": "22:00", "to": "07:60"}}', "bad-field: quiet.to must be a time of day"),
        ('{"quiet": {"from": "22:00", "to": "22:00"}}', "bad-field: quiet.from and quiet.to must differ"),
        ('{"digest": "hourly"}', "bad-field: digest must be one of off, daily, weekly"),
        ('{"digest_day": "Monday"}', "bad-field: digest_day must be one of monday, tuesday"),
        ("{", "bad-json: "),
    ],
)
def test_what_is_wrong_is_refused_with_what_would_be_right(data: str, complaint: str) -> None:
    with pytest.raises(Refused, match=re.escape(complaint)):
        parse(data.encode())


def test_so_much_may_be_muted_and_no_more() -> None:
    check(Preferences(muted=("user:bob",) * MAX_MUTED))
    with pytest.raises(Refused, match="muted has 1001 entries; at most 1000 are taken"):
        check(Preferences(muted=("user:bob",) * (MAX_MUTED + 1)))


@pytest.mark.parametrize(
    ("muted", "uri", "producer"),
    [
        ("artist:a1", "hm://notifications/feed/a1%new-album/", ""),
        ("artist:a1", "hm://notifications/feed/a1%artist-playlist/", "a1"),
        ("user:bob", "hm://notifications/feed/bob%friend-joined/", "bob"),
        ("user:bob", "hm://presence/user/bob/", "bob"),
        ("user:bob", "hm://playlist/user/bob/playlist/mix/", "eve"),
        ("user:eve", "hm://playlist/user/bob/playlist/mix/", "eve"),
        ("playlist:bob/mix", "hm://playlist/user/bob/playlist/mix/", "bob"),
    ],
)
def test_muting_an_entity_mutes_its_topics_and_what_a_user_did(muted: str, uri: str, producer: str) -> None:
    assert is_muted(Preferences(muted=("user:nobody", muted)), parse_topic(uri), producer)
    assert not is_muted(Preferences(muted=("user:nobody",)), parse_topic(uri), producer)


@pytest.mark.parametrize(
    ("muted", "uri", "producer"),
    [
        ("user:a1", "hm://notifications/feed/a1%new-album/", "a1"),
        ("artist:bob", "hm://notifications/feed/bob%friend-joined/", "bob"),
        ("playlist:bob/mix", "hm://playlist/user/bob/playlist/mix2/", "bob"),
    ],
)
def test_muting_one_mutes_no_other_of_the_same_name(muted: str, uri: str, producer: str) -> None:
    assert not is_muted(Preferences(muted=(muted,)), parse_topic(uri), producer)


@pytest.mark.parametrize(
    ("hours", "now", "until"),
    [
        (("22:00", "07:00"), "2026-11-20T20:59", None),
        (("22:00", "07:00"), "2026-11-20T21:00", "2026-11-21T06:00"),
        (("22:00", "07:00"), "2026-11-21T05:59", "2026-11-21T06:00"),
        (("22:00", "07:00"), "2026-11-21T06:00", None),
        (("13:00", "14:00"), "2026-11-21T12:30", "2026-11-21T13:00"),
        (("13:00", "14:00"), "2026-11-21T13:30", None),
        # The night when clocks are put forward is short, and one that ends in the gap ends where it ends.
        (("22:00", "07:00"), "2026-03-29T00:30", "2026-03-29T05:00"),
        (("22:00", "02:30"), "2026-03-29T00:30", "2026-03-29T01:00"),
        (("02:10", "02:50"), "2026-03-29T01:00", None),
        # When they are put back, quiet hours begin and end once.
        (("22:00", "07:00"), "2026-10-25T00:30", "2026-10-25T06:00"),
        (("22:00", "02:30"), "2026-10-25T00:29", "2026-10-25T00:30"),
        (("22:00", "02:30"), "2026-10-25T01:10", None),
        (("02:30", "07:00"), "2026-10-25T01:10", "2026-10-25T06:00"),
    ],
)
def test_quiet_hours_in_stockholm(hours: tuple[str, str], now: str, until: str | None) -> None:
    preferences = Preferences(tz="Europe/Stockholm", quiet=Quiet(since=hours[0], until=hours[1]))
    assert text_of(quiet_until_ms(preferences, at_utc(now))) == until


@pytest.mark.parametrize(
    ("digest", "at", "now", "due"),
    [
        ("daily", "08:00", "2026-11-21T06:59", "2026-11-21T07:00"),
        ("daily", "08:00", "2026-11-21T07:00", "2026-11-22T07:00"),
        ("off", "08:00", "2026-11-21T07:00", "2026-11-22T07:00"),
        ("weekly", "08:00", "2026-11-21T06:59", "2026-11-23T07:00"),
        ("weekly", "08:00", "2026-11-23T07:00", "2026-11-30T07:00"),
        ("daily", "02:30", "2026-03-28T12:00", "2026-03-29T01:00"),
        ("daily", "02:30", "2026-03-29T01:00", "2026-03-30T00:30"),
        ("daily", "02:30", "2026-10-24T12:00", "2026-10-25T00:30"),
        ("daily", "02:30", "2026-10-25T00:30", "2026-10-26T01:30"),
    ],
)
def test_digests_in_stockholm(digest: str, at: str, now: str, due: str) -> None:
    assert text_of(digest_due_ms(Preferences(tz="Europe/Stockholm", digest=digest, digest_at=at), at_utc(now))) == due


@given(
    st.sampled_from(["UTC", "Europe/Stockholm", "America/Havana", "Australia/Lord_Howe", "Pacific/Kiritimati", "Pacific/Apia"]),
    st.integers(at_utc("2011-12-01T00:00"), at_utc("2030-01-01T00:00")),
    st.times(),
    st.sampled_from(DAYS),
)
def test_the_next_digest_is_later_than_now_and_not_later_than_a_day_or_a_week(zone: str, now_ms: int, at: object, day: str) -> None:
    daily = Preferences(tz=zone, digest="daily", digest_at=str(at)[:5])
    assert now_ms < digest_due_ms(daily, now_ms) <= now_ms + DAY_MS * 1.05
    weekly = msgspec.structs.replace(daily, digest="weekly", digest_day=day)
    assert now_ms < digest_due_ms(weekly, now_ms) <= now_ms + 7.05 * DAY_MS
