"""`segue inbox`, against a server that has a small notification module."""

import asyncio
import json

from click.testing import CliRunner, Result

from segue.cli.command_line import cli
from tests.support.inbox_model import InboxModel
from tests.support.scripted_server import ScriptedServer


async def run(server: ScriptedServer, *arguments: str) -> Result:
    command = ["inbox", *arguments, "--token", "secret", "--url", server.url]
    return await asyncio.to_thread(CliRunner().invoke, cli, command)


async def marks_of(server: ScriptedServer, *arguments: str) -> list[int]:
    result = await run(server, "list", "--json", *arguments)
    assert result.exit_code == 0, result.output
    return [json.loads(text)["mark"] for text in result.output.splitlines()]


def stored(count: int) -> InboxModel:
    model = InboxModel()
    for _ in range(count):
        model.store()
    return model


async def test_what_is_done_in_a_shell_is_done() -> None:
    async with ScriptedServer(stored(4)) as server:
        for arguments, left in (
            (("archive", "4"), 3),
            (("read",), 0),
            (("unread", "1", "2"), 2),
            (("read", "1"), 1),
            (("delete", "3"), 1),
            (("archive", "1"), 1),
            (("unarchive", "4"), 1),
        ):
            result = await run(server, *arguments)
            assert (result.exit_code, result.output) == (0, f"{left} unread\n"), arguments
        assert (await marks_of(server), await marks_of(server, "--archived")) == ([4, 2], [1])
        assert await marks_of(server, "--unread") == [2]
        listed = (await run(server, "list")).output.splitlines()
        assert [("2 unread" in text, "4 read" in text) for text in listed] == [(False, True), (True, False)]
        assert "u001b" not in listed[0], "colours are none where there is no terminal"
        assert server.inbox is not None
        assert server.inbox.seen_marks == {}


async def test_what_is_older_is_looked_through_until_there_is_enough() -> None:
    model = stored(120)
    model.items[3]["payload"] = {"album": "Vespertine"}
    model.items[70]["payload"] = {"album": "Vespertine live"}
    model.items[70]["class"] = "new-track"
    async with ScriptedServer(model) as server:
        assert await marks_of(server, "--search", "VESPERTINE") == [71, 4]
        assert await marks_of(server, "--search", "vespertine", "--count", "1") == [71]
        assert await marks_of(server, "--class", "new-track") == [71]
        assert len(await marks_of(server)) == 20


async def test_a_mark_that_stands_for_nothing_is_named() -> None:
    async with ScriptedServer(stored(1)) as server:
        result = await run(server, "archive", "1", "7")
        assert (result.exit_code, result.output) == (1, "0 unread\nError: none\n")
        assert (await run(server, "delete")).exit_code == 2
