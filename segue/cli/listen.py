"""`segue listen`: the events of some topics, or a user's notifications, one a line, as they come."""

import itertools
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import click
import msgspec

from infra.kernel.printable import printable, printable_lines
from infra.kernel.topics import parse_topic
from segue.sdk.client import Client
from segue.sdk.client_options import ClientOptions
from segue.sdk.client_state import Phase, State
from segue.sdk.messages import Announcement, Ended, Event, FriendNews, Gap, Installed, Offloaded, weakest
from segue.sdk.notification_messages import Notification
from segue.sdk.outage import Outage
from segue.sdk.position_file import PositionFile
from segue.sdk.token_source import Token

from .access import OPEN_S, Access, access_options
from .event_line import line


@click.command()
@click.argument("topics", metavar="[TOPIC...]", nargs=-1)
@click.option("--notifications", is_flag=True, help="Print the user's stored notifications instead of topics.")
@click.option("--user", help="Listen as this user; needed unless there is a --token.")
@click.option("--json", "as_json", is_flag=True, help="Print each as the JSON that clients get.")
@click.option("--friends", is_flag=True, help="Follow all friends of the user and their playlists, also those to come.")
@click.option("--count", type=click.IntRange(min=1), help="Leave after so many lines.  [default: stay until Ctrl-C]")
@click.option(
    "--recover",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Keep in FILE how far this got, and begin with what was missed since the last run.",
)
@access_options(url="ws://127.0.0.1:7700/v1/connect", peer="access point", whose="user")
def listen(
    topics: tuple[str, ...],
    notifications: bool,
    friends: bool,
    user: str | None,
    as_json: bool,
    count: int | None,
    recover: Path | None,
    access: Access,
) -> None:
    """Print what is published on each TOPIC, such as hm://presence/user/bob/.

    With --notifications: what is stored for the user, from where the last run stopped, and what comes. Nothing is marked
    as read.

    With --friends: what the user's friends do, whoever they are from time to time, and how their playlists change. Topics may stand
    beside it.

    With --recover: events of the kinds that brokers keep (docs/recovery.md) come although nobody listened. Whether that was all is said.

    They go to standard output, one a line; what happens to the connection is told on standard error.
    """
    is_live = bool(topics) or friends
    if not is_live and not notifications:
        raise click.UsageError("Missing argument 'TOPIC...' (or --friends, or --notifications)")
    if is_live and notifications:
        raise click.UsageError("give either topics, or --friends, or --notifications; two of these commands show both")
    if notifications and recover is not None:
        raise click.UsageError("--recover is for topics; --notifications begin where the last run stopped anyway")
    for topic in topics:
        parse_topic(topic)
    access.run(_listen(access, access.as_user(user, "who listens"), topics, as_json, count, recover, friends=friends))


async def _listen(
    access: Access, token: Token, topics: Sequence[str], as_json: bool, count: int | None, recover: Path | None, *, friends: bool
) -> None:
    options = ClientOptions(open_timeout_s=OPEN_S, ca_file=access.ca)
    async with Client(
        access.urls,
        token,
        client="segue-listen",
        on_state=ConnectionTeller(),
        on_offloaded=tell_offloaded,
        on_ended=tell_ended,
        on_friends=tell_friends,
        on_gap=tell_gap,
        on_announcement=tell_announcement,
        position_file=None if recover is None else PositionFile(recover),
        options=options,
    ) as client:
        installed = await client.subscribe(topics)
        if friends:
            installed = weakest([installed, await client.follow("friends")])
        tell_recovered(installed)
        for rejected in installed.rejected:
            click.echo(printable(f"not followed: {rejected.topic} ({rejected.code}: {rejected.reason})"), err=True)
        if topics and not friends and len(installed.rejected) == len(set(topics)):
            raise click.ClickException("there is nothing to listen to: none of these topics can be followed")
        click.echo("listening; stop with Ctrl-C", err=True)
        found: AsyncIterator[Event | Notification] = client if topics or friends else client.notifications()
        for number in itertools.count(1):
            heard = await anext(found)
            click.echo(printable(msgspec.json.encode(heard).decode()) if as_json else line(heard))
            if number == count:
                return


def tell_offloaded(news: Offloaded) -> None:
    """Prints on standard error which topics leave real time and which come back."""
    until_then = f"one event in {news.every_ms / 1000:g} s" if news.every_ms else "nothing"
    for topic in news.left:
        click.echo(f"out of real time: {printable(topic)}; {until_then} comes until it is back", err=True)
    for topic in news.back:
        click.echo(f"back in real time: {printable(topic)}", err=True)


def tell_friends(news: FriendNews) -> None:
    """Prints on standard error which topics of friends are followed from now on and which no longer."""
    for topic in news.topics:
        click.echo(f"followed: {printable(topic)}", err=True)
    for topic in news.left:
        click.echo(f"followed no longer: {printable(topic)}", err=True)
    if news.beyond:
        click.echo(f"not followed: {news.beyond} more of friends, for a connection has no room for more topics", err=True)
    if not news.whole:
        click.echo("not everybody who knows of friends can be asked now; the others follow by themselves", err=True)


def tell_ended(news: Ended) -> None:
    """Prints on standard error which topics the user may not see any more."""
    for each in news.topics:
        click.echo(f"followed no longer: {printable(each.topic)} ({printable(each.code)}: {printable(each.reason)})", err=True)


def tell_gap(news: Gap) -> None:
    """Prints on standard error that something of followed topics may be missing."""
    for topic in news.topics:
        click.echo(printable(f"something was missed: {topic} ({news.reason})"), err=True)


def tell_recovered(installed: Installed) -> None:
    """Prints on standard error how much was recovered, where that was all. Where it was not, `tell_gap` has said so."""
    if installed.recovered:
        click.echo(f"{installed.replayed} recovered, nothing was missed", err=True)


def tell_announcement(news: Announcement) -> None:
    """Prints on standard error what an operator tells everybody."""
    click.echo(f"announcement: {printable(news.text)}", err=True)


class ConnectionTeller:
    """An observer of a client that prints on standard error how its connection goes."""

    def __init__(self) -> None:
        self._outage = Outage(lambda said: click.echo(printable_lines(said), err=True))

    def __call__(self, state: State) -> None:
        self._outage(state)
        if state.phase is Phase.CONNECTED:
            click.echo(printable(f"connected to {state.site} at {state.url}"), err=True)
            if state.installed is not None:
                tell_recovered(state.installed)
