"""`segue artists`, against a real artist monitoring."""

import asyncio
import json
from pathlib import Path

import msgspec
from click.testing import CliRunner

from segue.cli.command_line import cli
from segue.cluster.role_spec import RoleOptions
from services.artist.options import ArtistOptions
from tests.support.cluster import Cluster


def quiet(options: RoleOptions) -> RoleOptions:
    """Returns the options of a role in which artist monitoring does nothing by itself, and so logs nothing among what commands print."""
    return msgspec.structs.replace(options, at="") if isinstance(options, ArtistOptions) else options


async def test_artists_are_followed_listed_and_left(state: Path) -> None:
    async with Cluster(sites=1, state=state / "store", services=("artist",), change=quiet) as c:
        place = {"SEGUE_ARTIST_URL": f"http://{c.of('artist')[0].address}"}

        async def said(*arguments: str) -> str:
            command = ["artists", *arguments, "--user", "ann", "--state", str(state)]
            result = await asyncio.to_thread(CliRunner().invoke, cli, command, env=place)
            assert result.exit_code == 0, result.output
            return result.output

        assert await said("follow", "bjork") == "you follow bjork: new-album, new-track, artist-playlist\n"
        assert sorted((await said("list")).splitlines()) == ["bjork artist-playlist", "bjork new-album", "bjork new-track"]
        first = json.loads((await said("list", "--json")).splitlines()[0])
        assert first["artist"] == "bjork"
        assert await said("unfollow", "bjork") == "you do not follow bjork\n"
        assert await said("list") == ""
