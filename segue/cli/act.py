"""`segue act`: what a user does, told by way of presence, as their own client would tell it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from infra.runtime.event_loop import run
from segue.sdk.client import Client
from segue.sdk.client_options import ClientOptions
from segue.sdk.errors import SegueError

from ..cluster.tokens import user_token
from .access import OPEN_S, access_options, explained
from .state import secret_of

RESERVED: Final = {"op", "id", "kind", "self"}
EXAMPLE: Final = "artist=Björk"


@click.command()
@click.argument("kind")
@click.argument("fields", metavar="[FIELD=TEXT]...", nargs=-1)
@click.option("--payload", default="{}", show_default=True, help="More fields, which need not be texts: a JSON object.")
@click.option("--user", help="Who does it; needed unless there is a --token.")
@click.option("--client", default="segue-act", show_default=True, help="The name of the client that tells it.")
@access_options(url="ws://127.0.0.1:7700/v1/connect", peer="access point")
def act(
    kind: str, fields: tuple[str, ...], payload: str, user: str | None, client: str, urls: tuple[str, ...], token: str | None, state: Path
) -> None:
    """Tell a user's friends what the user does.

    KIND is play, pause, favourite or playlist; each FIELD, such as artist=Björk, says more about it. Presence keeps the last
    action of each user, so friends who connect later can ask for it.
    """
    said = _said(fields, payload)
    if token is None:
        if user is None:
            raise click.UsageError("say who does it: --user NAME (or --token)")
        token = user_token(secret_of(state), user)
    try:
        run(_act(urls, token, client, kind, said))
    except SegueError as error:
        raise explained(error, urls) from error


def _said(fields: Sequence[str], payload: str) -> dict[str, Any]:
    """Everything that is said about the action. Raises click.UsageError for what cannot be read."""
    pairs = [field.partition("=") for field in fields]
    if wrong := [name for name, equals, _ in pairs if not (name and equals)]:
        raise click.UsageError(f"{wrong[0]!r} is no field; write {EXAMPLE}")
    try:
        more = msgspec.json.decode(payload, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise click.BadParameter(f"{error}; it must be a JSON object, such as '{{\"position_s\": 12}}'", param_hint="--payload") from error
    said = more | {name: text for name, _, text in pairs}
    if taken := sorted(RESERVED & said.keys()):
        raise click.UsageError(f"{', '.join(taken)}: a name of the protocol; call this field something else")
    return said


async def _act(urls: Sequence[str], token: str, client: str, kind: str, said: dict[str, Any]) -> None:
    async with Client(urls, token, client=client, options=ClientOptions(open_timeout_s=OPEN_S)) as connection:
        await connection.act(kind, **said)
