"""`segue privacy`, `segue friends`, `segue block` and `segue unblock`, against a real cluster in this process."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path

import pytest
from click.testing import CliRunner

from segue.cli.command_line import cli
from tests.support.cluster import Cluster

Run = Callable[..., Coroutine[None, None, str]]


@pytest.fixture
async def run(state: Path) -> AsyncIterator[Run]:
    """Returns what runs a command of `user` at the social service of a cluster, and returns what it prints."""
    async with Cluster(sites=1, state=state / "store", services=("social",)) as c:
        url = f"http://{c.of('social')[0].address}"

        async def said(user: str, *arguments: str) -> str:
            command = [*arguments, "--user", user, "--url", url, "--state", str(state)]
            result = await asyncio.to_thread(CliRunner().invoke, cli, command)
            assert result.exit_code == 0, result.output
            return result.output

        yield said


async def test_friends_are_followed_listed_and_left(run: Run) -> None:
    assert await run("ann", "friends", "list") == ""
    assert await run("ann", "friends", "add", "bob") == "you follow bob; they do not follow you\n"
    assert await run("bob", "friends", "add", "ann") == "you follow ann; they follow you, too\n"
    await run("ann", "friends", "add", "cyd")
    assert await run("ann", "friends", "list") == "bob (friend)\ncyd\n"
    assert await run("cyd", "friends", "followers") == "ann\n"
    assert await run("bob", "friends", "followers") == "ann (friend)\n"
    assert await run("ann", "friends", "remove", "bob") == "you do not follow bob\n"
    assert await run("ann", "friends", "list") == "cyd\n"


async def test_what_is_set_is_shown(run: Run) -> None:
    """AUTH-4, AUTH-5, AUTH-8."""
    assert await run("ann", "privacy", "show") == "what you play is seen by: friends\n"
    assert await run("ann", "privacy", "listening", "nobody") == "what you play is seen by: nobody\n"
    assert await run("ann", "block", "eve") == "you block eve\n"
    assert await run("ann", "privacy", "session", "desk") == "desk is private\n"
    assert (await run("ann", "privacy", "session", "a phone", "--hours", "2")).startswith("a phone is private until 2")
    shown = (await run("ann", "privacy", "show")).splitlines()
    assert [shown[0], shown[2], shown[3]] == ["what you play is seen by: nobody", "desk is private", "you block: eve"]
    assert await run("ann", "unblock", "eve") == "you do not block eve\n"
    for client in ("desk", "a phone"):
        assert await run("ann", "privacy", "session", client, "--off") == f"{client} is not private\n"
    assert await run("ann", "privacy", "show") == "what you play is seen by: nobody\n"


async def test_playlists_are_shown_and_set(run: Run) -> None:
    """AUTH-6, AUTH-7."""
    assert await run("ann", "privacy", "playlist", "mix") == "mix is public\n"
    said = await run("ann", "privacy", "playlist", "mix", "followers", "--editor", "bob", "--editor", "cyd")
    assert said == "mix is for your followers\nits editors: bob, cyd\n"
    assert await run("ann", "privacy", "playlist", "mix", "private", "--no-editor", "bob") == "mix is private\nits editors: cyd\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["block", "eve"], "--user NAME"),
        (["privacy", "listening", "some"], "'everyone', 'followers', 'friends', 'nobody'"),
        (["friends", "list", "--user", "ann", "--url", "http://127.0.0.1:1"], "nobody answers at http://127.0.0.1:1"),
    ],
)
def test_what_cannot_work_says_what_would(arguments: list[str], complaint: str, state: Path) -> None:
    result = CliRunner().invoke(cli, [*arguments, "--state", str(state)])
    assert result.exit_code != 0
    assert complaint in result.output
