"""`segue notify`: tells followers something that must not be lost, as the service to which the topic belongs."""

import re
import secrets
from typing import Any, BinaryIO, Final

import aiohttp
import click
import msgspec

from infra.kernel.printable import printable
from infra.kernel.topics import Kind, kind_of, parse_topic
from infra.runtime.bounded_answer import bounded_body
from infra.runtime.network_reason import network_reason
from segue.sdk.connector import connector
from segue.sdk.errors import ConnectionLost
from segue.sdk.token_source import Token, fresh

from ..sdk.broker_answer import read_as
from .access import Access, access_options
from .json_object import payload_option

SERVICE_OF: Final = {Kind.PLAYLIST: "playlist", Kind.ARTIST: "artist", Kind.SOCIAL: "social"}
PAGE: Final = 1000
TIMEOUT: Final = aiohttp.ClientTimeout(total=600, connect=5)


class IntakeAnswer(msgspec.Struct):
    """The answer of the intake."""

    id: str
    accepted: int
    duplicate: bool


@click.command()
@click.argument("topic")
@click.option("--kind", required=True, help="What happened, such as album.")
@payload_option('{"album": "Post"}')
@click.option("--to", "followers", help="Whom to tell: user names with commas.")
@click.option("--file", type=click.File("rb"), help="Whom to tell: a file with a user name on each line, - for standard input.")
@click.option("--id", "id_", help="Repeat with the same id, and nobody is told twice.  [default: a new one]")
@access_options(url="http://127.0.0.1:7720", peer="notification module")
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
    header = {"id": id_ or secrets.token_hex(8), "topic": topic, "kind": kind, "payload": payload}
    stored = access.run(_notify(access, access.as_service(service), header, names))
    again = ", which had been told already" if stored.duplicate else ""
    click.echo(f"{printable(stored.id)} stored for {stored.accepted} followers{again}")


def _names(followers: str | None, file: BinaryIO | None) -> list[str]:
    if (followers is None) == (file is None):
        raise click.UsageError("say whom to tell: --to alice,bob or --file FILE")
    text = followers if followers is not None else file.read().decode() if file is not None else ""
    return list(dict.fromkeys(filter(None, re.split(r"[,\s]+", text))))


async def _notify(access: Access, token: Token, header: dict[str, Any], names: list[str]) -> IntakeAnswer:
    """Returns the answer of the intake. Raises Refused, ConnectionLost when no address answers, ProtocolError."""
    lines = [header, *({"followers": names[at : at + PAGE]} for at in range(0, len(names), PAGE))]
    body = b"\n".join(map(msgspec.json.encode, lines))
    headers = {"Authorization": f"Bearer {await fresh(token)}", "Content-Type": "application/x-ndjson"}
    troubles = []
    async with aiohttp.ClientSession(timeout=TIMEOUT, connector=connector(access.ca)) as http:
        for url in access.urls:
            try:
                async with http.post(f"{url.rstrip('/')}/v1/notifications", data=body, headers=headers) as response:
                    return read_as(IntakeAnswer, url, response.status, await bounded_body(response), response.headers.get("Retry-After"))
            except (aiohttp.ClientError, TimeoutError) as error:
                troubles.append(f"{url}: {network_reason(error)}")
    raise ConnectionLost(f"no answer from {'; '.join(troubles)}")
