"""`segue devices`: the browsers to which a user's pushes go."""

import click

from .access import Access
from .as_json import json_option, show_all
from .settings_access import at_settings, settings_options


@click.group()
def devices() -> None:
    """List the browsers to which pushes go, or remove one.

    A browser adds itself by its own keys, in a page: docs/web-push.md.
    """


@devices.command("list")
@json_option
@settings_options
def list_(as_json: bool, user: str | None, access: Access) -> None:
    """Print where pushes to the user go, one address a line."""
    show_all(at_settings(access, user, lambda client: client.devices()), as_json, lambda device: device.endpoint)


@devices.command()
@click.argument("endpoint")
@settings_options
def remove(endpoint: str, user: str | None, access: Access) -> None:
    """Send no more pushes to ENDPOINT."""
    at_settings(access, user, lambda client: client.remove_device(endpoint))
    click.echo("no pushes go there")
