"""`segue notify`: tells followers something that must not be lost, as the service to which the topic belongs."""

import re
from typing import Any, BinaryIO, Final

import click

from infra.kernel.printable import printable
from infra.kernel.topics import Kind, kind_of, parse_topic
from segue.sdk.notifier import Notifier, StoredNotification

from .access import Access, access_options
from .json_object import payload_option

SERVICE_OF: Final = {Kind.PLAYLIST: "playlist", Kind.ARTIST: "artist", Kind.SOCIAL: "social"}


@click.command()
@click.argument("topic")
@click.option("--kind", required=True, help="What happened, such as album.")
@payload_option('{"album": "Post"}')
@click.option("--to", "followers", help="Whom to tell: user names with commas.")
@click.option("--file", type=click.File("rb"), help="Whom to tell: a file with a user name on each line, - for standard input.")
@click.option("--id", "id_", help="Repeat with the same id, and nobody is told twice.  [default: a new one]")
@access_options(url="http://127.0.0.1:7720", peer="notification module", whose="service")
def notify(
    topic: str,
    kind: str,
    payload: dict[str, Any],
    followers: str | None,
    file: BinaryIO | None,
    id_: str | None,
    access: Access,
) -> None:
    """Tell followers of TOPIC something: who is online hears it now, who is not finds it later, on every device.

    TOPIC is an artist's feed, a user's social feed or a playlist, such as hm://notifications/feed/bjork%new-album/. Prints
    the id and how many followers it is stored for.
    """
    service = SERVICE_OF.get(kind_of(parse_topic(topic)))
    if service is None:
        raise click.UsageError("only artist, social and playlist topics have stored notifications; for the others: segue publish")
    names = _names(followers, file)

    async def run() -> StoredNotification:
        async with Notifier(access.urls, access.as_service(service), ca_file=access.ca) as notifier:
            return await notifier.notify(topic, kind, payload, names, id=id_)

    stored = access.run(run())
    again = ", which had been told already" if stored.duplicate else ""
    click.echo(f"{printable(stored.id)} stored for {stored.accepted} followers{again}")


def _names(followers: str | None, file: BinaryIO | None) -> list[str]:
    if (followers is None) == (file is None):
        raise click.UsageError("say whom to tell: --to alice,bob or --file FILE")
    text = followers if followers is not None else file.read().decode() if file is not None else ""
    return list(filter(None, re.split(r"[,\s]+", text)))
