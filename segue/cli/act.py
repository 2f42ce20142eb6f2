"""`segue act`: what a user does, told to presence as the user's own client would tell it."""

from collections.abc import Sequence
from typing import Any, Final

import click

from segue.sdk.client import Client
from segue.sdk.client_options import ClientOptions
from segue.sdk.token_source import Token

from .access import OPEN_S, Access, access_options
from .json_object import payload_option

RESERVED: Final = {"op", "id", "kind", "self"}
EXAMPLE: Final = "artist=Björk"


@click.command()
@click.argument("kind")
@click.argument("fields", metavar="[FIELD=TEXT]...", nargs=-1)
@payload_option('{"position_s": 12}', "More fields, which need not be texts: a JSON object.")
@click.option("--user", help="Who does it; needed unless there is a --token.")
@click.option("--client", default="segue-act", show_default=True, help="The name of the client that tells it.")
@access_options(url="ws://127.0.0.1:7700/v1/connect", peer="access point", whose="user")
def act(kind: str, fields: tuple[str, ...], payload: dict[str, Any], user: str | None, client: str, access: Access) -> None:
    """Tell a user's friends what the user does.

    KIND is play, pause, favourite or playlist; each FIELD, such as artist=Björk, says more about it. Presence keeps the last
    action of each user, so friends who connect later can ask for it.
    """
    said = _said(fields, payload)
    access.run(_act(access, access.as_user(user, "who does it"), client, kind, said))


def _said(fields: Sequence[str], payload: dict[str, Any]) -> dict[str, Any]:
    """Returns everything that is said about the action. Raises UsageError for what cannot be read."""
    pairs = [field.partition("=") for field in fields]
    if wrong := [name for name, equals, _ in pairs if not (name and equals)]:
        raise click.UsageError(f"{wrong[0]!r} is no field; write {EXAMPLE}")
    said = payload | {name: text for name, _, text in pairs}
    if taken := sorted(RESERVED & said.keys()):
        raise click.UsageError(f"{', '.join(taken)}: a name of the protocol; call this field something else")
    return said


async def _act(access: Access, token: Token, client: str, kind: str, said: dict[str, Any]) -> None:
    options = ClientOptions(open_timeout_s=OPEN_S, ca_file=access.ca)
    async with Client(access.urls, token, client=client, options=options) as connection:
        await connection.act(kind, **said)
