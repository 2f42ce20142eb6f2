"""`segue act`: what a user does, told to presence as the user's own client would tell it."""

from collections.abc import Sequence
from typing import Any, Final

import click

from .access import Access, access_options
from .access_point import at_access_point
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
    at_access_point(client, access, user, lambda connection: connection.act(kind, **said), who="who does it")


def _said(fields: Sequence[str], payload: dict[str, Any]) -> dict[str, Any]:
    """Returns everything that is said about the action. Raises UsageError for what cannot be read."""
    pairs = [field.partition("=") for field in fields]
    if wrong := [name for name, equals, _ in pairs if not (name and equals)]:
        raise click.UsageError(f"{wrong[0]!r} is no field; write {EXAMPLE}")
    said = payload | {name: text for name, _, text in pairs}
    if taken := sorted(RESERVED & said.keys()):
        raise click.UsageError(f"{', '.join(taken)}: a name of the protocol; call this field something else")
    return said
