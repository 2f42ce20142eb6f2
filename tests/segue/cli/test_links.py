"""`segue links` and `segue wall`, against a real cluster in this process."""

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
    """Returns what runs a command of ann at the social service of a cluster, and returns what it prints."""
    async with Cluster(sites=1, state=state / "store", services=("social",)) as c:
        url = f"http://{c.of('social')[0].address}"

        async def said(*arguments: str) -> str:
            result = await asyncio.to_thread(CliRunner().invoke, cli, [*arguments, "--user", "ann", "--url", url, "--state", str(state)])
            assert result.exit_code == 0, result.output
            return result.output

        yield said


async def test_an_address_book_is_linked_listed_and_forgotten(run: Run) -> None:
    assert await run("links", "list") == ""
    assert await run("links", "add", "address-book", "bob@example.org", "cyd@example.org") == "address-book: 2 contacts are remembered\n"
    assert await run("links", "list") == "address-book: 2 contacts\n"
    assert await run("links", "list", "--json") == '{"provider":"address-book","contacts":2,"verified":false}\n'
    assert await run("links", "remove", "address-book") == "address-book is forgotten\n"
    assert await run("links", "list") == ""


async def test_wall_posts_are_turned_off_and_on(run: Run) -> None:
    for wanted in ("off", "on"):
        assert await run("wall", wanted) == f"wall posts are {wanted}\n"
        assert await run("wall") == f"wall posts are {wanted}\n"
