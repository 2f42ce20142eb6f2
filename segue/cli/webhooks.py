"""`segue webhooks`: the endpoints to which a user's notifications are posted."""

import click

from infra.kernel.printable import printable

from .access import Access
from .as_json import json_option, show_all
from .settings_access import at_settings, settings_options


@click.group()
def webhooks() -> None:
    """Have a user's notifications posted to an endpoint, signed (docs/webhooks.md)."""


@webhooks.command("list")
@json_option
@settings_options
def list_(as_json: bool, user: str | None, access: Access) -> None:
    """Print the endpoints, one a line: id and URL."""
    show_all(at_settings(access, user, lambda client: client.webhooks()), as_json, lambda each: f"{each.id} {each.url}")


@webhooks.command()
@click.argument("url")
@settings_options
def add(url: str, user: str | None, access: Access) -> None:
    """Have notifications posted to URL, and print id and secret. The secret is shown this once."""
    made = at_settings(access, user, lambda client: client.add_webhook(url))
    click.echo(printable(f"{made.id} {made.secret}"))


@webhooks.command()
@click.argument("webhook", metavar="ID")
@settings_options
def remove(webhook: str, user: str | None, access: Access) -> None:
    """Post nothing more to the endpoint ID."""
    at_settings(access, user, lambda client: client.remove_webhook(webhook))
    click.echo("nothing more is posted there")


@webhooks.command()
@click.argument("webhook", metavar="ID")
@settings_options
def rotate(webhook: str, user: str | None, access: Access) -> None:
    """Give the endpoint ID a new secret, and print it. For a day the secret before signs, too."""
    made = at_settings(access, user, lambda client: client.rotate_webhook(webhook))
    click.echo(printable(made.secret))


@webhooks.command()
@click.argument("webhook", metavar="ID")
@settings_options
def test(webhook: str, user: str | None, access: Access) -> None:
    """Post a test message to the endpoint ID, and print what came of it. Exit code 1: it was not taken."""
    tested = at_settings(access, user, lambda client: client.test_webhook(webhook))
    click.echo(printable(f"{tested.state}: {tested.reason}"))
    if tested.state != "delivered":
        raise SystemExit(1)
