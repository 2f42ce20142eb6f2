"""`segue friends`: whom a user follows, and who follows them."""

from collections.abc import AsyncIterator, Callable

import click

from infra.kernel.printable import printable
from segue.sdk.social import FollowedUser, Social

from .access import Access
from .user_access import at_social, social_options


@click.group()
def friends() -> None:
    """Follow users, and list who is followed and who follows."""


@friends.command("list")
@social_options
def list_(user: str | None, access: Access) -> None:
    """Print whom the user follows, one name a line, and who of them is a friend: they follow back."""

    _show(access, user, Social.friends)


@friends.command()
@social_options
def followers(user: str | None, access: Access) -> None:
    """Print who follows the user, one name a line, and who of them is a friend: the user follows them, too."""
    _show(access, user, Social.followers)


@friends.command()
@click.argument("other", metavar="USER")
@social_options
def add(other: str, user: str | None, access: Access) -> None:
    """Follow USER, and by default their playlists."""
    mutual = at_social(access, user, lambda social: social.follow(other))
    click.echo(f"you follow {other}; {'they follow you, too' if mutual else 'they do not follow you'}")


@friends.command()
@click.argument("other", metavar="USER")
@social_options
def remove(other: str, user: str | None, access: Access) -> None:
    """Follow USER no more."""
    at_social(access, user, lambda social: social.unfollow(other))
    click.echo(f"you do not follow {other}")


def _show(access: Access, user: str | None, listed: Callable[[Social], AsyncIterator[FollowedUser]]) -> None:
    async def work(social: Social) -> list[FollowedUser]:
        return [each async for each in listed(social)]

    for each in at_social(access, user, work):
        click.echo(printable(each.user) + " (friend)" * each.mutual)
