"""How commands print an event, or a notification: on a line for people, or as JSON for programs."""

import time
from collections.abc import Iterable

import click
import msgspec

from infra.kernel.printable import printable
from segue.sdk.messages import Event
from segue.sdk.notification_messages import Notification, PastEvent

from .as_json import show


def show_lines(found: Iterable[Event | Notification | PastEvent], as_json: bool) -> None:
    """Prints each on a line that is safe for a terminal."""
    for each in found:
        show(each, as_json, lambda each: click.echo(line(each)))


def line(heard: Event | Notification | PastEvent) -> str:
    """Returns one line for people: when, where it came in (or which notification it is), on which topic, what, and its payload.

    The line is safe for a terminal.
    """
    clock, gap = "%Y-%m-%d %H:%M:%S", ""
    place: tuple[str, ...] = ()
    if isinstance(heard, Event):
        clock, place = "%H:%M:%S", (printable(heard.site),)
        gap = "" if heard.gap == 0 else click.style(f"({_missed(heard.gap)}) ", fg="red")
    elif isinstance(heard, Notification):
        place = (_standing(heard),)
    return " ".join(
        (
            click.style(f"{time.strftime(clock, time.localtime(heard.ts_ms / 1000))}.{heard.ts_ms % 1000:03}", dim=True),
            *place,
            click.style(printable(heard.topic), fg="green"),
            click.style(printable(heard.kind), bold=True),
            gap + printable(msgspec.json.encode(heard.payload).decode()),
        )
    )


def _missed(gap: int | None) -> str:
    return "something may be lost before" if gap is None else f"{gap} lost before"


def _standing(item: Notification) -> str:
    if not item.rings:
        return f"{item.mark} feed"
    return f"{item.mark} read" if item.read else click.style(f"{item.mark} unread", fg="yellow")
