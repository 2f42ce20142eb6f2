"""`segue inbox`: what a user was told, and what they do with it."""

from typing import Final

import click

from infra.kernel.printable import printable
from segue.sdk.client import Client
from segue.sdk.notification_inbox import NotificationInbox
from segue.sdk.notification_messages import Action, Marks, Notification

from .access import Access
from .access_point import at_access_point, client_options
from .as_json import json_option
from .event_line import show_lines

CLIENT: Final = "segue-inbox"
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
@client_options
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

    found = at_access_point(CLIENT, access, user, work)
    show_lines(found, as_json)


@inbox.command()
@click.argument("marks", metavar="[MARK...]", type=click.IntRange(min=1), nargs=-1)
@client_options
def read(marks: tuple[int, ...], user: str | None, access: Access) -> None:
    """Mark each MARK as read, or all there is."""
    if marks:
        _change(access, user, "read", marks)
    else:
        _tell(at_access_point(CLIENT, access, user, lambda client: client.read()))


@inbox.command()
@marks_argument
@client_options
def unread(marks: tuple[int, ...], user: str | None, access: Access) -> None:
    """Mark each MARK as unread."""
    _change(access, user, "unread", marks)


@inbox.command()
@marks_argument
@client_options
def archive(marks: tuple[int, ...], user: str | None, access: Access) -> None:
    """Archive each MARK, on all devices of the user."""
    _change(access, user, "archive", marks)


@inbox.command()
@marks_argument
@client_options
def unarchive(marks: tuple[int, ...], user: str | None, access: Access) -> None:
    """Take each MARK out of the archive."""
    _change(access, user, "unarchive", marks)


@inbox.command()
@marks_argument
@client_options
def delete(marks: tuple[int, ...], user: str | None, access: Access) -> None:
    """Delete each MARK for good, on all devices of the user."""
    _change(access, user, "delete", marks)


def _change(access: Access, user: str | None, action: Action, marks: tuple[int, ...]) -> None:
    _tell(at_access_point(CLIENT, access, user, lambda client: client.change_notifications(action, marks)))


def _tell(marks: Marks) -> None:
    """Prints how many are unread now. Raises ClickException that names what was not there."""
    click.echo(f"{marks.unread} unread")
    if marks.rejected:
        raise click.ClickException(printable("; ".join(each.reason for each in marks.rejected)))
