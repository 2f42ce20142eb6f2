"""`segue playlists`, against a real cluster in this process."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from segue.cli.command_line import cli
from tests.support.cluster import Cluster

Run = Callable[..., Coroutine[None, None, str]]


@pytest.fixture
async def run(state: Path) -> AsyncIterator[Run]:
    """Returns what runs a command of `user` at the playlist service of a cluster, which it finds by the environment."""
    async with Cluster(sites=1, state=state / "store", services=("playlist",)) as c:
        place = {"SEGUE_PLAYLIST_URL": f"http://127.0.0.1:1 http://{c.of('playlist')[0].address}"}

        async def said(user: str, *arguments: str, code: int = 0) -> str:
            command = ["playlists", *arguments, "--user", user, "--state", str(state)]
            result: Result = await asyncio.to_thread(CliRunner().invoke, cli, command, env=place)
            assert result.exit_code == code, result.output
            return result.output

        yield said


async def test_a_playlist_is_made_changed_shown_and_deleted(run: Run) -> None:
    assert await run("ann", "create", "Sumar", "a", "b", "--id", "summer") == "ann/summer Sumar (version 1, 2 tracks)\n"
    assert await run("ann", "add", "summer", "c") == "version 2\n"
    assert await run("ann", "add", "summer", "d", "--at", "0") == "version 3\n"
    assert await run("ann", "reorder", "summer", "0", "4", "--version", "3") == "version 4\n"
    assert await run("ann", "remove", "ann/summer", "1", "--count", "2") == "version 5\n"
    assert await run("ann", "rename", "summer", "Vetur") == "version 6\n"
    assert await run("ann", "show", "summer") == "ann/summer Vetur (version 6, 2 tracks)\n    0 a\n    1 d\n"
    assert "conflict" in await run("ann", "add", "summer", "e", "--version", "1", code=1)
    assert await run("ann", "delete", "summer") == "summer is deleted\n"
    assert await run("ann", "list") == ""


async def test_a_playlist_of_another_user_is_followed_and_edited_where_it_is_collaborative(run: Run) -> None:
    await run("ann", "create", "Mix", "--id", "mix")
    assert "forbidden" in await run("bob", "add", "ann/mix", "t1", code=1)
    assert await run("ann", "collaborative", "mix", "editors") == "version 2\n"
    assert await run("bob", "add", "ann/mix", "t1") == "version 3\n"
    assert await run("bob", "follow", "ann/mix") == "you follow ann/mix\n"
    assert await run("bob", "list", "--followed") == "ann/mix Mix (1 tracks)\n"
    assert await run("ann", "followers", "mix") == "bob\n"
    assert await run("bob", "unfollow", "ann/mix") == "you do not follow ann/mix\n"
    assert await run("ann", "collaborative", "mix", "owner") == "version 4\n"
    assert await run("bob", "list", "ann") == "ann/mix Mix (1 tracks)\n"


async def test_json_is_what_the_service_answers(run: Run) -> None:
    made = json.loads(await run("ann", "create", "Mix", "t1", "--id", "mix", "--json"))
    assert made == json.loads(await run("ann", "show", "mix", "--json"))
    (listed,) = (json.loads(line) for line in (await run("ann", "list", "--json")).splitlines())
    assert listed == made | {"tracks": 1}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["list", "--token", "x"], "segue playlists list OWNER"),
        (["show", "mix", "--token", "x"], "OWNER/mix"),
        (["show", "ann/mix"], "--user NAME (or --token)"),
    ],
)
def test_what_cannot_work_says_what_would(arguments: list[str], complaint: str, state: Path) -> None:
    result = CliRunner().invoke(cli, ["playlists", *arguments, "--state", str(state), "--url", "http://127.0.0.1:1"])
    assert (result.exit_code, complaint in result.output) == (2, True), result.output
