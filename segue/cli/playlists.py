"""`segue playlists`: made, changed, listed, followed."""

from typing import Final

import click

from segue.sdk.playlists import PlaylistClient, PlaylistContents, PlaylistSummary

from .access import Access
from .as_json import json_option, show_all
from .user_access import all_of, at_service, user_options

playlist_options = user_options(url="http://127.0.0.1:7730", peer="playlist service")
_PLAYLIST: Final = click.argument("playlist", metavar="[OWNER/]ID")
_VERSION: Final = click.option("--version", type=click.IntRange(min=1), help="Make the change only to this version.")
_POSITION: Final = click.IntRange(min=0)


@click.group()
def playlists() -> None:
    """Make and change playlists, list and follow them.

    A playlist is OWNER/ID, or ID alone where it is the user's own. Positions count from 0. Who sees one and edits it: segue privacy
    playlist.
    """


@playlists.command("list")
@click.argument("owner", required=False)
@click.option("--followed", is_flag=True, help="Those that OWNER follows, instead of those that they own.")
@json_option
@playlist_options
def list_(owner: str | None, followed: bool, as_json: bool, user: str | None, access: Access) -> None:
    """Print the playlists of OWNER, or of the user."""
    whose = _named(owner or user, "whose playlists: segue playlists list OWNER")

    async def work(client: PlaylistClient) -> list[PlaylistSummary]:
        return await all_of(client.followed_by(whose) if followed else client.owned_by(whose))

    show_all(at_service(PlaylistClient, access, user, work), as_json, _listed)


@playlists.command()
@_PLAYLIST
@json_option
@playlist_options
def show(playlist: str, as_json: bool, user: str | None, access: Access) -> None:
    """Print a playlist: its version, and each track behind its position."""
    found = at_service(PlaylistClient, access, user, lambda client: client.get(*_place(playlist, user)))
    show_all([found], as_json, _headed)
    if not as_json:
        show_all(enumerate(found.tracks), as_json, lambda track: f"{track[0]:5} {track[1]}")


@playlists.command()
@click.argument("name")
@click.argument("tracks", metavar="[TRACK]...", nargs=-1)
@click.option("--id", "id_", help="Its name in addresses.  [default: a new one]")
@click.option("--collaborative", is_flag=True, help="Let its editors change it, too.")
@json_option
@playlist_options
def create(
    name: str, tracks: tuple[str, ...], id_: str | None, collaborative: bool, as_json: bool, user: str | None, access: Access
) -> None:
    """Make a playlist of the user."""
    made = at_service(PlaylistClient, access, user, lambda client: client.create(name, id=id_, tracks=tracks, collaborative=collaborative))
    show_all([made], as_json, _headed)


@playlists.command()
@_PLAYLIST
@click.argument("name")
@_VERSION
@playlist_options
def rename(playlist: str, name: str, version: int | None, user: str | None, access: Access) -> None:
    """Call a playlist NAME."""
    _say(at_service(PlaylistClient, access, user, lambda client: client.rename(*_place(playlist, user), name, version=version)))


@playlists.command()
@_PLAYLIST
@click.argument("who", type=click.Choice(["editors", "owner"]))
@_VERSION
@playlist_options
def collaborative(playlist: str, who: str, version: int | None, user: str | None, access: Access) -> None:
    """Say who changes a playlist of the user: its editors, or the owner alone."""

    async def work(client: PlaylistClient) -> int:
        return await client.set_collaborative(*_place(playlist, user), who == "editors", version=version)

    _say(at_service(PlaylistClient, access, user, work))


@playlists.command()
@_PLAYLIST
@click.argument("tracks", metavar="TRACK...", nargs=-1, required=True)
@click.option("--at", type=_POSITION, help="Put them before the track at this position.  [default: the end]")
@_VERSION
@playlist_options
def add(playlist: str, tracks: tuple[str, ...], at: int | None, version: int | None, user: str | None, access: Access) -> None:
    """Add each TRACK."""

    async def work(client: PlaylistClient) -> int:
        place = _place(playlist, user)
        held = version if at is None else version or (await client.get(*place)).version
        return await client.add(*place, tracks, position=at, version=held)

    _say(at_service(PlaylistClient, access, user, work))


@playlists.command()
@_PLAYLIST
@click.argument("position", type=_POSITION)
@click.option("--count", type=click.IntRange(min=1), default=1, show_default=True, help="How many tracks.")
@_VERSION
@playlist_options
def remove(playlist: str, position: int, count: int, version: int | None, user: str | None, access: Access) -> None:
    """Take the track at POSITION away. Without --version it counts in the list as it is now."""

    async def work(client: PlaylistClient) -> int:
        place = _place(playlist, user)
        return await client.remove(*place, position, count=count, version=version or (await client.get(*place)).version)

    _say(at_service(PlaylistClient, access, user, work))


@playlists.command()
@_PLAYLIST
@click.argument("position", type=_POSITION)
@click.argument("to", type=_POSITION)
@click.option("--count", type=click.IntRange(min=1), default=1, show_default=True, help="How many tracks.")
@_VERSION
@playlist_options
def reorder(playlist: str, position: int, to: int, count: int, version: int | None, user: str | None, access: Access) -> None:
    """Move the track at POSITION before the one at TO. Without --version both count in the list as it is now."""

    async def work(client: PlaylistClient) -> int:
        place = _place(playlist, user)
        return await client.reorder(*place, position, to, count=count, version=version or (await client.get(*place)).version)

    _say(at_service(PlaylistClient, access, user, work))


@playlists.command()
@_PLAYLIST
@_VERSION
@playlist_options
def delete(playlist: str, version: int | None, user: str | None, access: Access) -> None:
    """Delete a playlist of the user. Its id is not used again."""
    at_service(PlaylistClient, access, user, lambda client: client.delete(*_place(playlist, user), version=version))
    click.echo(f"{playlist} is deleted")


@playlists.command()
@_PLAYLIST
@playlist_options
def follow(playlist: str, user: str | None, access: Access) -> None:
    """Follow a playlist: on all devices of the user."""
    at_service(PlaylistClient, access, user, lambda client: client.follow(*_place(playlist, user)))
    click.echo(f"you follow {playlist}")


@playlists.command()
@_PLAYLIST
@playlist_options
def unfollow(playlist: str, user: str | None, access: Access) -> None:
    """Follow a playlist no more."""
    at_service(PlaylistClient, access, user, lambda client: client.unfollow(*_place(playlist, user)))
    click.echo(f"you do not follow {playlist}")


@playlists.command()
@_PLAYLIST
@json_option
@playlist_options
def followers(playlist: str, as_json: bool, user: str | None, access: Access) -> None:
    """Print who follows a playlist, one name a line."""
    found = at_service(PlaylistClient, access, user, lambda client: all_of(client.followers(*_place(playlist, user))))
    show_all(found, as_json, str)


def _place(playlist: str, user: str | None) -> tuple[str, str]:
    """Returns owner and id of what is written as OWNER/ID or, of the `user`, as ID. Raises UsageError."""
    owner, slash, id = playlist.rpartition("/")
    return (owner, id) if slash else (_named(user, f"whose playlist: OWNER/{playlist}"), id)


def _named(user: str | None, wanted: str) -> str:
    if not user:
        raise click.UsageError(f"say {wanted} (or --user NAME)")
    return user


def _say(version: int) -> None:
    click.echo(f"version {version}")


def _listed(playlist: PlaylistSummary) -> str:
    return f"{playlist.owner}/{playlist.id} {playlist.name} ({playlist.tracks} tracks)"


def _headed(playlist: PlaylistContents) -> str:
    return f"{playlist.owner}/{playlist.id} {playlist.name} (version {playlist.version}, {len(playlist.tracks)} tracks)"
