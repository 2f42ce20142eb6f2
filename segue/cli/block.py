"""`segue block` and `segue unblock`: whom a user wants to see nothing of, and to be seen by no more."""

import click

from .access import Access
from .user_access import at_social, social_options


@click.command()
@click.argument("other", metavar="USER")
@social_options
def block(other: str, user: str | None, access: Access) -> None:
    """Block USER.

    Neither of you sees anything of the other, and neither follows the other any more. USER is not told.
    """
    at_social(access, user, lambda social: social.block(other))
    click.echo(f"you block {other}")


@click.command()
@click.argument("other", metavar="USER")
@social_options
def unblock(other: str, user: str | None, access: Access) -> None:
    """Block USER no more. Who followed whom before does not come back."""
    at_social(access, user, lambda social: social.unblock(other))
    click.echo(f"you do not block {other}")
