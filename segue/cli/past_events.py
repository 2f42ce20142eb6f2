"""`segue history` and `segue last`: what was on topics before."""

from collections.abc import Sequence
from typing import Final

import click

from infra.kernel.topics import parse_topic
from segue.sdk.client import Client
from segue.sdk.notification_messages import PastEvent

from .access import Access
from .access_point import at_access_point, client_options
from .as_json import json_option
from .event_line import show_lines

# So many events are asked for at once.
PAGE: Final = 50


@click.command()
@click.argument("topic")
@click.option("--count", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many.")
@json_option
@client_options
def history(topic: str, count: int, as_json: bool, user: str | None, access: Access) -> None:
    """Print what was stored on TOPIC, such as hm://notifications/feed/bjork%new-album/, one a line, newest first.

    It is also what was there before the user followed TOPIC. Friend feeds have no history; ask for the last event of one.
    """
    parse_topic(topic)

    async def work(client: Client) -> list[PastEvent]:
        found: list[PastEvent] = []
        before: str | None = None
        while len(found) < count:
            page = await client.history(topic, limit=min(PAGE, count - len(found)), before=before)
            found.extend(page.items)
            before = page.next
            if before is None:
                break
        return found

    show_lines(at_access_point("segue-history", access, user, work), as_json)


@click.command()
@click.argument("topics", metavar="TOPIC...", nargs=-1, required=True)
@json_option
@client_options
def last(topics: Sequence[str], as_json: bool, user: str | None, access: Access) -> None:
    """Print the last event of each TOPIC that has one, such as hm://presence/user/bob/, one a line.

    Presence keeps it for each user. The user need not follow them. Whom the user may not hear is left out.
    """
    for topic in topics:
        parse_topic(topic)
    show_lines(at_access_point("segue-last", access, user, lambda client: client.last(topics)), as_json)
