"""Preferences: what a user may set (`docs/preferences.md`), and when quiet hours end and digests are due by them.

All other functions here take preferences that `check` has let through.
"""

import re
from collections.abc import Iterator
from datetime import date, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.json_text import read_json
from infra.kernel.suggestion import suggest
from infra.kernel.topics import Kind, Topic, kind_of

from .fields import Channel, check_channels, check_choice, check_email, check_muted, check_time, check_zone
from .local_time import instant_ms, local_date, zone_named

DIGESTS: Final = ("off", "daily", "weekly")
DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY: Final = timedelta(days=1)


class Quiet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The quiet hours of the day, local time "HH:MM"; they go past midnight where `until` is the earlier one."""

    since: str = msgspec.field(name="from")
    until: str = msgspec.field(name="to")


class Preferences(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The preferences of one user.

    - `email`: where mails go; None: no mails.
    - `channels`: class -> channel -> allowed; what is absent is allowed.
    - `muted`: "artist:<id>", "user:<name>", "playlist:<owner>/<id>".
    - `tz`: a name of the IANA time zone database.
    - `quiet`: hours without pushes.
    - `digest`: one of `DIGESTS`, sent at `digest_at`; `digest_day`, one of `DAYS`, counts if it is weekly.
    """

    email: str | None = None
    channels: dict[str, dict[str, bool]] = {}
    muted: tuple[str, ...] = ()
    tz: str = "UTC"
    quiet: Quiet | None = None
    digest: str = "off"
    digest_at: str = "08:00"
    digest_day: str = "monday"

    def allows(self, cls: str, channel: Channel) -> bool:
        """Returns whether notifications of class `cls` may take `channel`."""
        return self.channels.get(cls, {}).get(channel, True)


_DECODER: Final = msgspec.json.Decoder(Preferences)
_FIELDS: Final = (*Preferences.__struct_encode_fields__, *Quiet.__struct_encode_fields__)
_UNKNOWN: Final = re.compile(r"Object contains unknown field `([^`]{,64}).*")


def parse(data: bytes) -> Preferences:
    """Returns the preferences in a JSON text, checked. Raises `Refused` (bad-json, bad-utf8, bad-field)."""
    try:
        preferences = read_json(data, _DECODER)
    except Refused as refused:
        raise Refused(refused.code.name, _complaint(refused.reason)) from None
    check(preferences)
    return preferences


def check(preferences: Preferences) -> None:
    """Raises `Refused("bad-field")`, with what would be right, for what is wrong."""
    check_email(preferences.email)
    check_channels(preferences.channels)
    check_muted(preferences.muted)
    check_zone(preferences.tz)
    check_choice("digest", preferences.digest, DIGESTS)
    check_time("digest_at", preferences.digest_at)
    check_choice("digest_day", preferences.digest_day, DAYS)
    if preferences.quiet is not None:
        _check_quiet(preferences.quiet)


def is_muted(preferences: Preferences, topic: Topic, producer: str) -> bool:
    """Returns whether the user of `preferences` muted what `topic` is about, its owner, or `producer`, the user who did it."""
    muted = preferences.muted
    return bool(muted) and any(name in muted for name in _names(topic, producer))


def quiet_until_ms(preferences: Preferences, now_ms: int) -> int | None:
    """Returns when the quiet hours end in which `now_ms` lies; None if it lies in none."""
    if preferences.quiet is None:
        return None
    zone = zone_named(preferences.tz)
    today = local_date(zone, now_ms)
    # Hours that began yesterday may go past midnight. Clock changes can make both days' hours overlap: the later end counts.
    windows = (_window(preferences.quiet, zone, day) for day in (today - _DAY, today))
    return max((end_ms for start_ms, end_ms in windows if start_ms <= now_ms < end_ms), default=None)


def digest_due_ms(preferences: Preferences, now_ms: int) -> int:
    """Returns when the next digest goes out, strictly later than `now_ms`.

    A user without digests has one too, daily: it takes the mails that were too many at once.
    """
    zone, at = zone_named(preferences.tz), time.fromisoformat(preferences.digest_at)
    due = (instant_ms(zone, day, at) for day in _digest_days(preferences, local_date(zone, now_ms)))
    return next(due_ms for due_ms in due if due_ms > now_ms)


def _complaint(error: str) -> str:
    unknown = _UNKNOWN.fullmatch(error)
    return f"unknown field {unknown[1]}; {suggest(unknown[1], _FIELDS)}" if unknown else error.replace("`", "")


def _check_quiet(quiet: Quiet) -> None:
    check_time("quiet.from", quiet.since)
    check_time("quiet.to", quiet.until)
    if quiet.since == quiet.until:
        raise Refused("bad-field", "quiet.from and quiet.to must differ; to have no push at all, opt out of push")


def _names(topic: Topic, producer: str) -> Iterator[str]:
    """Returns the names that a user may have muted to hear nothing of this event."""
    what = topic[1:].decode()
    match kind_of(topic):
        case Kind.ARTIST:
            yield f"artist:{what.partition('%')[0]}"
            return
        case Kind.PLAYLIST:
            yield f"playlist:{what}"
            yield f"user:{what.partition('/')[0]}"
        case Kind.USER | Kind.SOCIAL | Kind.INBOX:
            yield f"user:{what.partition('%')[0]}"
    yield f"user:{producer}"


def _window(quiet: Quiet, zone: ZoneInfo, day: date) -> tuple[int, int]:
    """Returns the quiet hours that begin on `day`: start and end."""
    since, until = time.fromisoformat(quiet.since), time.fromisoformat(quiet.until)
    return instant_ms(zone, day, since), instant_ms(zone, day if since < until else day + _DAY, until)


def _digest_days(preferences: Preferences, today: date) -> Iterator[date]:
    """Returns days with digests, enough for the next one to be among them.

    The day before counts as well, because a gap may have moved its digest past midnight.
    """
    days = (today + _DAY * n for n in range(-1, 2 * len(DAYS)))
    return (day for day in days if preferences.digest != "weekly" or DAYS[day.weekday()] == preferences.digest_day)
