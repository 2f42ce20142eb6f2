"""`segue history` and `segue last`, against a server that plays a script."""

import asyncio
import json
from typing import Any

from click.testing import CliRunner, Result

from segue.cli.command_line import cli
from tests.support.scripted_server import TIME_MS, Message, ScriptedServer, error

ALBUMS = "hm://notifications/feed/bjork%new-album/"
BOB = "hm://presence/user/bob/"


async def run(server: ScriptedServer, *arguments: str) -> Result:
    return await asyncio.to_thread(CliRunner().invoke, cli, [*arguments, "--token", "secret", "--url", server.url])


def past(topic: str, n: int, **payload: Any) -> Message:
    return {"topic": topic, "ts": TIME_MS, "id": f"e{n}", "kind": "album", "payload": {"n": n, **payload}}


class History:
    """The history of a topic with so many events; `asked` are the questions."""

    def __init__(self, events: int) -> None:
        self.asked: list[Message] = []
        self._events = [past(ALBUMS, n) for n in range(events, 0, -1)]

    def answer(self, message: Message) -> Message:
        self.asked.append(message)
        start = int(message.get("before", 0))
        end = start + message["limit"]
        items, following = self._events[start:end], str(end) if end < len(self._events) else None
        return {"op": "history", "id": message["id"], "topic": message["topic"], "items": items, "next": following}


async def test_what_was_stored_is_printed_page_by_page_until_there_is_enough() -> None:
    async with ScriptedServer() as server:
        history = History(120)
        server.answers["history"] = history.answer
        result = await run(server, "history", ALBUMS, "--count", "70", "--json")
        assert result.exit_code == 0, result.output
        assert [json.loads(text)["id"] for text in result.output.splitlines()] == [f"e{n}" for n in range(120, 50, -1)]
        assert [(each["topic"], each["limit"]) for each in history.asked] == [(ALBUMS, 50), (ALBUMS, 20)]
        few = await run(server, "history", ALBUMS)
        assert len(few.output.splitlines()) == 20
        server.answers["history"] = History(3).answer
        assert len((await run(server, "history", ALBUMS)).output.splitlines()) == 3


async def test_the_last_event_of_each_topic_is_a_line_that_is_safe_for_a_terminal() -> None:
    async with ScriptedServer() as server:
        answer = {"op": "last", "events": [past(BOB, 1, track="\x1b[2J")]}
        server.answers["last"] = lambda message: answer | {"id": message["id"]}
        (told,) = (await run(server, "last", BOB, "hm://presence/user/eve/")).output.splitlines()
        assert told.endswith(f'{BOB} album {{"n":1,"track":"\\u001b[2J"}}')


async def test_what_is_no_topic_or_may_not_be_seen_is_an_error() -> None:
    async with ScriptedServer() as server:
        server.answers["history"] = lambda message: error("forbidden", 4204, id=message["id"], reason="ann lets nobody see")
        refused = await run(server, "history", ALBUMS)
        assert (refused.exit_code, "ann lets nobody see" in refused.output) == (1, True)
        for command in ("history", "last"):
            assert (await run(server, command, "elsewhere")).exit_code != 0
        assert (await run(server, "last")).exit_code == 2
