"""`segue prefs`: which notifications a user wants, where, and when."""

from collections.abc import Iterator
from typing import Any, Final, get_args

import click
import msgspec

from segue.sdk.settings import Digest, NotificationPreferences, QuietHours, SettingsClient, Weekday

from .access import Access
from .as_json import json_option, show_all
from .settings_access import at_settings, settings_options

_NO_MAIL: Final = "none"
_NEVER: Final = "never"


@click.group()
def prefs() -> None:
    """Show or set which notifications a user wants, where, and when."""


@prefs.command()
@json_option
@settings_options
def show(as_json: bool, user: str | None, access: Access) -> None:
    """Print what the user has set; the defaults where they have not."""
    _show(at_settings(access, user, lambda client: client.preferences()), as_json)


@prefs.command("set")
@click.option("--email", metavar="ADDRESS", help="Where mails go; none: there are none.")
@click.option("--tz", metavar="ZONE", help="The time zone of all times here, such as Europe/Stockholm.")
@click.option("--quiet", metavar="FROM-TO", help="No push comes then, such as 22:00-07:00; never: it may always come.")
@click.option("--digest", type=click.Choice(get_args(Digest)), help="Whether mails are collected into one.")
@click.option("--digest-at", metavar="HH:MM", help="When that one goes out.")
@click.option("--digest-day", type=click.Choice(get_args(Weekday)), help="On which day, if it is weekly.")
@click.option("--mute", "muted", multiple=True, metavar="WHAT", help="artist:ID, user:NAME or playlist:OWNER/ID. May be repeated.")
@click.option("--unmute", "unmuted", multiple=True, metavar="WHAT", help="Hear of it again. May be repeated.")
@click.option("--want", "wanted", multiple=True, metavar="CLASS:CHANNEL", help="Such as new-album:push. May be repeated.")
@click.option("--refuse", "refused", multiple=True, metavar="CLASS:CHANNEL", help="Such as new-track:email. May be repeated.")
@json_option
@settings_options
def set_(
    muted: tuple[str, ...],
    unmuted: tuple[str, ...],
    wanted: tuple[str, ...],
    refused: tuple[str, ...],
    as_json: bool,
    user: str | None,
    access: Access,
    **settings: str | None,
) -> None:
    """Set what is named, and leave the rest. Prints what holds from the next event on."""
    changes = {name: _value(name, text) for name, text in settings.items() if text is not None}
    choices = [*((*_choice(each), True) for each in wanted), *((*_choice(each), False) for each in refused)]

    async def work(client: SettingsClient) -> NotificationPreferences:
        held = await client.preferences()
        channels = {cls: dict(each) for cls, each in held.channels.items()}
        for cls, channel, wants in choices:
            channels.setdefault(cls, {})[channel] = wants
        still = [each for each in dict.fromkeys([*held.muted, *muted]) if each not in unmuted]
        return await client.set_preferences(msgspec.structs.replace(held, channels=channels, muted=still, **changes))

    _show(at_settings(access, user, work), as_json)


@prefs.command()
@json_option
@settings_options
def reset(as_json: bool, user: str | None, access: Access) -> None:
    """Forget all that the user has set: the defaults hold again."""
    _show(at_settings(access, user, lambda client: client.set_preferences(NotificationPreferences())), as_json)


def _value(name: str, text: str) -> Any:
    """Returns the value of the setting `name` that is written as `text`. Raises UsageError."""
    if name == "email":
        return None if text == _NO_MAIL else text
    if name != "quiet":
        return text
    since, dash, until = text.partition("-")
    if text != _NEVER and not (since and dash and until):
        raise click.UsageError(f"--quiet {text}: write two times of day, such as 22:00-07:00, or {_NEVER}")
    return None if text == _NEVER else QuietHours(since=since, until=until)


def _choice(text: str) -> tuple[str, str]:
    """Returns class and channel of what is written CLASS:CHANNEL. Raises UsageError."""
    cls, colon, channel = text.partition(":")
    if not (cls and colon and channel):
        raise click.UsageError(f"{text!r} is no choice; write CLASS:CHANNEL, such as new-album:push")
    return cls, channel


def _show(preferences: NotificationPreferences, as_json: bool) -> None:
    if as_json:
        show_all([preferences], as_json, str)
    else:
        show_all(_lines(preferences), as_json, str)


def _lines(held: NotificationPreferences) -> Iterator[str]:
    yield f"mails go to: {held.email or 'nowhere'}"
    day = f" on {held.digest_day}" if held.digest == "weekly" else ""
    yield f"digest: {held.digest}" + (f"{day} at {held.digest_at}" if held.digest != "off" else "")
    yield f"no push: {f'{held.quiet.since} to {held.quiet.until}' if held.quiet else _NEVER} ({held.tz})"
    for cls, channels in held.channels.items():
        for channel, wants in channels.items():
            yield f"{cls} by {channel}: {'wanted' if wants else 'refused'}"
    for each in held.muted:
        yield f"muted: {each}"
