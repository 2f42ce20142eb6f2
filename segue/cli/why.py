"""`segue why`: why a user got a notification, or did not."""

from collections.abc import Iterator

import click

from segue.sdk.settings import EventExplanation

from .access import Access
from .as_json import json_option, show_all
from .settings_access import at_settings, settings_options


@click.command()
@click.argument("event")
@json_option
@settings_options
def why(event: str, as_json: bool, user: str | None, access: Access) -> None:
    """Say why a user got EVENT, or did not, by its id.

    Prints the ways on which it went, the rules that decided, and what became of mails and pushes. docs/rules.md tells the rules.
    """
    found = at_settings(access, user, lambda client: client.why(event))
    if as_json:
        show_all([found], as_json, str)
    else:
        show_all(_lines(found), as_json, str)


def _lines(found: EventExplanation) -> Iterator[str]:
    yield f"{found.event}: {found.kind} on {found.topic}"
    yield f"went by: {', '.join(found.types) or 'no way'}"
    yield f"decided by: {', '.join(found.reasons)}"
    for each in found.sent:
        yield f"{each.channel}: {each.state}" + (f", {each.reason}" if each.reason else "")
