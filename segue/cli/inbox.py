"""`segue inbox`: what a user was told, and what they do with it."""

from collections.abc import Awaitable, Callable

import click

from infra.kernel.printable import printable
from segue.sdk.client import Client
from segue.sdk.client_options import ClientOptions
from segue.sdk.notification_inbox import NotificationInbox
from segue.sdk.notification_messages import Action, Marks, Notification

from .access import OPEN_S, Access
from .as_json import json_option, show_all
from .listen import line
from .user_access import Result, user_options

inbox_options = user_options(url="ws://127.0.0.1:7700/v1/connect", peer="access point")
marks_argument = click.argument("marks", metavar="MARK...", type=click.IntRange(min=1), nargs=-1, required=True)


@click.group()
def inbox() -> None:
    """Show, read, archive and delete what a user was told.

    MARK is the number of a notification, as the list shows it.
    """


@inbox.command("list")
@click.option("--archived", is_flag=True, help="What is archived, and not the rest.")
@click.option("--class", "class_", help="Of this class only, such as new-album.")
@click.option("--unread", is_flag=True, help="Only what is not read.")
@click.option("--search", "text", default="", metavar="WORDS", help="Only what has all of these words.")
@click.option("--count", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many.")
@json_option
@inbox_options
def list_(archived: bool, class_: str | None, unread: bool, text: str, count: int, as_json: bool, user: str | None, access: Access) -> None:
    """Print the user's notifications, one a line, newest first. None of them is marked as read or seen."""

    async def work(client: Client) -> list[Notification]:
        async with NotificationInbox(client) as found:
            if archived:
                await found.more(archived=True)
            while len(some := found.select(archived=archived, class_=class_, unread=unread, text=text)) < count:
                if not found.has_more(archived=archived):
                    break
                await found.more(archived=archived)
            return list(some[:count])

    found = _at_access_point(access, user, work)
    show_all(found, as_json, line)


@inbox.command()
@click.argument("marks", metavar="[MARK...]", type=click.IntRange(min=1), nargs=-1)
@inbox_options
def read(marks: tuple[int, ...], user: str | None, access: Access) -> None:
    """Mark each MARK as read, or all there is."""
    if marks:
        _change(access, user, "read", marks)
    else:
        _tell(_at_access_point(access, user, lambda client: client.read()))


@inbox.command()
@marks_argument
@inbox_options
def unread(marks: tuple[int, ...], user: str | None, access: Access) -> None:
    """Mark each MARK as unread."""
    _change(access, user, "unread", marks)


@inbox.command()
@marks_argument
@inbox_options
def archive(marks: tuple[int, ...], user: str | None, access: Access) -> None:
    """Archive each MARK, on all devices of the user."""
    _change(access, user, "archive", marks)


@inbox.command()
@marks_argument
@inbox_options
def unarchive(marks: tuple[int, ...], user: str | None, access: Access) -> None:
    """Take each MARK out of the archive."""
    _change(access, user, "unarchive", marks)


@inbox.command()
@marks_argument
@inbox_options
def delete(marks: tuple[int, ...], user: str | None, access: Access) -> None:
    """Delete each MARK for good, on all devices of the user."""
    _change(access, user, "delete", marks)


def _change(access: Access, user: str | None, action: Action, marks: tuple[int, ...]) -> None:
    _tell(_at_access_point(access, user, lambda client: client.change_notifications(action, marks)))


def _tell(marks: Marks) -> None:
    """Prints how many are unread now. Raises ClickException that names what was not there."""
    click.echo(f"{marks.unread} unread")
    if marks.rejected:
        raise click.ClickException(printable("; ".join(each.reason for each in marks.rejected)))


def _at_access_point(access: Access, user: str | None, work: Callable[[Client], Awaitable[Result]]) -> Result:
    """Returns what `work` returns, which gets a client of `user`. Raises ClickException that says what to do."""

    async def run() -> Result:
        options = ClientOptions(open_timeout_s=OPEN_S, ca_file=access.ca)
        async with Client(access.urls, access.as_user(user, "whose it is"), client="segue-inbox", options=options) as client:
            return await work(client)

    return access.run(run())
