"""`segue links` and `segue wall`: the address books that a user has linked, and whether the user wants wall posts."""

from collections.abc import Sequence
from typing import Literal

import click

from segue.sdk.social import LinkedBook

from .access import Access
from .as_json import json_option, show_all
from .user_access import at_social, social_options


@click.group()
def links() -> None:
    """Link address books, and list which a user has linked."""


@links.command("list")
@json_option
@social_options
def list_(as_json: bool, user: str | None, access: Access) -> None:
    """Print what the user has linked, one address book a line."""
    show_all(at_social(access, user, lambda social: social.links()), as_json, _told)


@links.command()
@click.argument("provider")
@click.argument("contacts", nargs=-1, required=True, metavar="CONTACT...")
@click.option("--me", help="The user's own id there, which is left out of the contacts.")
@social_options
def add(provider: str, contacts: Sequence[str], me: str | None, user: str | None, access: Access) -> None:
    """Link each CONTACT of PROVIDER, such as address-book: whoever of them is here, or comes later, is followed."""
    taken = at_social(access, user, lambda social: social.link(provider, contacts, me=me))
    click.echo(f"{provider}: {taken} contacts are remembered")


@links.command()
@click.argument("provider")
@social_options
def remove(provider: str, user: str | None, access: Access) -> None:
    """Have the user's id and contacts at PROVIDER forgotten. Whom they brought stays followed."""
    at_social(access, user, lambda social: social.unlink(provider))
    click.echo(f"{provider} is forgotten")


@click.command()
@click.argument("wanted", type=click.Choice(["on", "off"]), required=False)
@social_options
def wall(wanted: Literal["on", "off"] | None, user: str | None, access: Access) -> None:
    """Show or set whether a user wants wall posts."""
    is_on = at_social(access, user, lambda social: social.wall() if wanted is None else social.set_wall(wanted == "on"))
    click.echo(f"wall posts are {'on' if is_on else 'off'}")


def _told(book: LinkedBook) -> str:
    return f"{book.provider}: {book.contacts} contacts{' (verified)' * book.verified}"
