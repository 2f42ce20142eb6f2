"""`segue artists`: whose news a user hears."""

import click

from segue.sdk.artists import ArtistClient, ArtistFeed

from .access import Access
from .as_json import json_option, show_all
from .user_access import all_of, at_service, user_options

artist_options = user_options(url="http://127.0.0.1:7732", peer="artist service")


@click.group()
def artists() -> None:
    """Follow artists, and list whom a user follows."""


@artists.command("list")
@json_option
@artist_options
def list_(as_json: bool, user: str | None, access: Access) -> None:
    """Print the feeds that the user follows, one a line: the artist, and the type of news."""
    found = at_service(ArtistClient, access, user, lambda client: all_of(client.followed()))
    show_all(found, as_json, _told)


@artists.command()
@click.argument("artist")
@artist_options
def follow(artist: str, user: str | None, access: Access) -> None:
    """Follow ARTIST, by their id, on all devices of the user."""
    types = at_service(ArtistClient, access, user, lambda client: client.follow(artist))
    click.echo(f"you follow {artist}: {', '.join(types)}")


@artists.command()
@click.argument("artist")
@artist_options
def unfollow(artist: str, user: str | None, access: Access) -> None:
    """Follow ARTIST no more."""
    at_service(ArtistClient, access, user, lambda client: client.unfollow(artist))
    click.echo(f"you do not follow {artist}")


def _told(feed: ArtistFeed) -> str:
    return f"{feed.artist} {feed.type}"
