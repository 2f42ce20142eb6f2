"""`segue listen --notifications` and examples/inbox.py, as processes of their own."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from segue.cli.command_line import cli
from segue.cli.event_line import line
from segue.sdk.messages import Event
from segue.sdk.notification_messages import Notification
from tests.support.inbox_model import InboxModel
from tests.support.scripted_server import ScriptedServer

ROOT = Path(__file__).resolve().parents[3]
DEADLINE_S = 60.0


@asynccontextmanager
async def running(*arguments: str) -> AsyncIterator[asyncio.StreamReader]:
    """Yields what Python with these arguments writes. It is killed if it outlives the block."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-X", "utf8", *arguments), stdout=asyncio.subprocess.PIPE, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(DEADLINE_S):
            yield process.stdout
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


def inbox(*, items: int) -> InboxModel:
    model = InboxModel()
    for _ in range(items):
        model.store()
    return model


@pytest.mark.slow
async def test_listen_prints_the_notifications_and_goes_on_where_it_stopped() -> None:
    async with ScriptedServer(inbox(items=3)) as server:
        arguments = ("-m", "segue", "listen", "--notifications", "--json", "--token", "secret", "--url", server.url)
        async with running(*arguments, "--count", "2") as output:
            assert [json.loads(text)["mark"] for text in (await output.read()).splitlines()] == [1, 2]
        async with running(*arguments, "--count", "2") as output:
            assert json.loads(await output.readline())["mark"] == 3
            await server.publish()
            assert json.loads(await output.readline())["id"] == "ev-4"


@pytest.mark.slow
async def test_the_example_prints_each_notification_once_over_two_runs(tmp_path: Path) -> None:
    async with ScriptedServer(inbox(items=1)) as server:
        arguments = ("examples/inbox.py", server.url, "secret", str(tmp_path / "alice.mark"))
        async with running(*arguments) as output:
            first = (await output.readline()).decode()
            assert first.startswith("1 hm://notifications/feed/bjork%new-album/ {'artist': 'Björk'")
            assert first.endswith("(1 unread)\n")
            assert (tmp_path / "alice.mark").read_text() == "1 1\n"  # the mark and its epoch
        await server.publish()
        async with running(*arguments) as output:
            assert (await output.readline()).startswith(b"2 ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Missing argument 'TOPIC...' (or --friends, or --notifications)"),
        (("--notifications", "hm://presence/user/bob/"), "either topics, or"),
    ],
)
def test_listen_wants_either_topics_or_notifications(arguments: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(cli, ["listen", *arguments, "--user", "ann"])
    assert (result.exit_code, said in result.output) == (2, True), result.output


def test_a_line_says_which_notification_it_is_and_cannot_write_to_the_terminal() -> None:
    item = Notification(
        mark=7, topic="t\x1b[2J", kind="album", class_="new-album", ts_ms=0, id="e", payload={"a": "\x1b"}, types=("in-client",)
    )
    assert "7 unread" in line(item)
    assert "\x1b[2J" not in line(item)


@pytest.mark.parametrize(("gap", "said"), [(2, "2 lost before"), (None, "something may be lost before"), (0, "")])
def test_a_line_says_what_is_missing_before_its_event(gap: int | None, said: str) -> None:
    heard = line(Event(topic="t", site="sto", epoch=1, seq=1, ts_ms=0, id="e", kind="play", payload={}, gap=gap))
    assert said in heard
    assert ("lost" in heard) == bool(said)
