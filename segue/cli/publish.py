"""`segue publish`: one event, or a file or stream of them, to a broker."""

import sys
from collections.abc import AsyncIterator
from typing import Any, BinaryIO, Final

import click
import msgspec

from infra.kernel.printable import printable
from infra.kernel.topics import parse_topic
from segue.cli.lines import lines
from segue.sdk.errors import Misuse
from segue.sdk.publication import Publication, Result
from segue.sdk.publisher import Publisher, PublisherOptions
from segue.sdk.token_source import Token

from .access import Access, access_options
from .json_object import payload_option

TRIES: Final = 3
USERS: Final = "hm://presence/"
PAST_PRESENCE: Final = "presence does not hear of this, so `last` will not know it; what a user does is told by segue act"
LINE: Final = '{"topic": "hm://presence/user/bob/", "kind": "play", "payload": {"artist": "Björk"}}'


@click.command()
@click.argument("topic", required=False)
@click.option("--kind", help="What happened, such as play.")
@payload_option('{"artist": "Björk"}')
@click.option("--file", type=click.File("rb"), help="Publish every line of this NDJSON file, - for standard input.")
@click.option("--service", default="presence", show_default=True, help="The service to publish as: presence, playlist or notification.")
@access_options(url="http://127.0.0.1:7710", peer="broker", whose="service")
def publish(topic: str | None, kind: str | None, payload: dict[str, Any], file: BinaryIO | None, service: str, access: Access) -> None:
    """Publish an event on TOPIC, or those in a file.

    What is published on a user's topic goes to their friends past presence; `segue act` tells both.

    Prints the id of the event, or how many were accepted: in a broker's memory and on their way to everybody interested.
    Exit code 1: an event was rejected.
    """
    source = _publications(file) if file is not None and topic is None else _publication(topic, kind, payload, file)
    access.run(_publish(source, access, access.as_service(service)))


def _publication(topic: str | None, kind: str | None, payload: dict[str, Any], file: object) -> Publication:
    """Returns the event that the arguments describe. Raises UsageError where they describe none."""
    if topic is None or kind is None or file is not None:
        raise click.UsageError("give either a TOPIC with its --kind, or a --file")
    parse_topic(topic)
    return Publication(topic, kind, payload)


async def _publications(file: BinaryIO) -> AsyncIterator[Publication]:
    number, warned = 0, False
    async for line in lines(file.fileno()):
        number += 1
        if not line.strip():
            continue
        try:
            publication = msgspec.json.decode(line, type=Publication)
        except msgspec.DecodeError as error:
            raise Misuse(f"{file.name}, line {number}: {error}; a line is like {LINE}") from error
        if not warned and publication.topic.startswith(USERS):
            warned = True
            click.echo(PAST_PRESENCE, err=True)
        yield publication


async def _publish(source: Publication | AsyncIterator[Publication], access: Access, token: Token) -> None:
    async with Publisher(access.urls, token, options=PublisherOptions(tries=TRIES, ca_file=access.ca)) as publisher:
        if isinstance(source, Publication):
            click.echo(printable(await publisher.publish(source.topic, source.kind, source.payload)))
            if source.topic.startswith(USERS):
                click.echo(PAST_PRESENCE, err=True)
        else:
            _report(await publisher.publish_many(source))


def _report(result: Result) -> None:
    for rejection in result.rejected:
        click.echo(f"event {rejection.index + 1} was rejected: {printable(rejection.code)}: {printable(rejection.reason)}", err=True)
    click.echo(f"{result.accepted} accepted, {len(result.rejected)} rejected")
    if result.rejected:
        sys.exit(1)
