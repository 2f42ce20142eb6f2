"""segue.cli.top.command: the command and its polling, against real admin doors and what only looks like one."""

import asyncio
import contextlib
import io
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import aiohttp
import click
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from click.testing import CliRunner, Result
from rich.console import Console

from infra.runtime.http.admin import Admin
from infra.runtime.metrics import Value
from segue.cli.top.command import DrawnFrame, frames, parse_address, poll, top, watch
from segue.cli.top.frame import Unreachable
from segue.demo.loopback import Loopback

DEADLINE_S = 30.0


@dataclass
class Role:
    """A role whose access point has delivered ten more events each time that somebody looks."""

    role: str = "accesspoint"
    node: str = "p1"
    site: str = "sto"
    shown: dict[str, float] = field(default_factory=lambda: {"accesspoint_deliveries_total": 0.0, "accesspoint_connections": 5.0})

    def ready(self) -> str | None:
        return None

    def counters(self) -> Mapping[str, Value]:
        self.shown["accesspoint_deliveries_total"] += 10
        return self.shown


async def run(*arguments: str) -> Result:
    """Runs the command in a thread of its own, since it brings its own loop."""
    return await asyncio.to_thread(CliRunner().invoke, top, arguments, env={"COLUMNS": "100"})


async def test_once_prints_one_frame_with_rates_and_leaves() -> None:
    async with Admin([Role()], "127.0.0.1", 0) as admin:
        result = await run("--once", "--interval", "0.1", admin.address, f"{admin.address}/")
    assert result.exit_code == 0, result.output
    site = next(line for line in result.output.splitlines() if " sto " in line).split()
    assert site[2] == "5"
    assert site[6] not in {"0", "-"}
    assert "1 process" in result.output
    assert "measured over 0.1 s" in result.output


async def test_without_any_door_the_command_fails_and_says_how_to_start_one() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        result = await run("--once", "--interval", "0.1", f"127.0.0.1:{closed.getsockname()[1]}")
    assert result.exit_code == 1
    assert "Connection refused; trying again" in result.output
    assert "segue up" in result.output


@pytest.mark.parametrize("text", ["7790", "localhost", "ftp://host:21", "host:port", ":7790", "http://host:77x"])
async def test_a_wrong_address_is_refused_with_an_example(text: str) -> None:
    result = await run(text)
    assert result.exit_code == 2
    assert "127.0.0.1:7790" in " ".join(result.output.split())


@pytest.mark.parametrize("text", ["127.0.0.1:7790", "http://127.0.0.1:7790", "http://127.0.0.1:7790/"])
def test_an_address_may_be_written_with_or_without_the_scheme(text: str) -> None:
    assert parse_address(text) == "http://127.0.0.1:7790"


def test_a_parsed_address_stays_the_same_and_a_wrong_one_is_a_bad_parameter() -> None:
    assert parse_address(parse_address("[::1]:7790")) == "http://[::1]:7790"
    with pytest.raises(click.BadParameter):
        parse_address("")


async def test_a_door_that_closes_is_shown_as_unreachable_and_found_again() -> None:
    async with Admin([Role()], "127.0.0.1", 0) as admin:
        address = admin.address
        port = int(address.rpartition(":")[2])
        stream = frames([address], interval_s=0.01)
        first, second = await anext(stream), await anext(stream)
    gone = await anext(stream)
    async with Admin([Role()], "127.0.0.1", port), contextlib.aclosing(stream):
        back, with_rates = await anext(stream), await anext(stream)
    assert (first.history, len(second.history)) == ((), 1)
    assert gone.view.unreachable == ((address, "Connection refused"),)
    assert gone.view.rows == ()
    assert back.view.unreachable == ()
    assert back.view.total.deliveries_per_s is None
    assert [len(shot.history) for shot in (second, gone, back, with_rates)] == [1, 1, 1, 2]


async def test_frames_keep_what_was_delivered_before() -> None:
    async with Admin([Role()], "127.0.0.1", 0) as admin, contextlib.aclosing(frames([admin.address], 0.01)) as stream:
        shots: list[DrawnFrame] = [await anext(stream) for _ in range(4)]
    assert all(later.history[: len(earlier.history)] == earlier.history for earlier, later in pairwise(shots))
    assert all(rate > 0 for rate in shots[-1].history)


def answering(body: str, status: int = 200) -> Loopback:
    """Returns a server with an answer that no admin door gives."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=body, status=status)

    return Loopback(web.get("/{path:.*}", answer))


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ("no", 404, "answered 404"),
        ("<html>", 200, "something else"),
        ('{"process":1}', 200, "something else"),
        ("\xff", 200, "something else"),
    ],
)
async def test_a_server_that_is_no_admin_door_is_unreachable_with_a_hint(body: str, status: int, reason: str) -> None:
    async with answering(body, status) as server, aiohttp.ClientSession() as session:
        (said,) = (await poll(session, [f"http://{server.address}"])).values()
    assert isinstance(said, Unreachable)
    assert reason in said.reason
    assert "admin address?" in said.reason


async def test_a_door_that_never_answers_holds_up_a_frame_no_longer_than_the_timeout() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        silent_address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        async with (
            Admin([Role()], "127.0.0.1", 0) as admin,
            contextlib.aclosing(frames([admin.address, silent_address], 0.01, timeout_s=0.5)) as stream,
        ):
            view = (await anext(stream)).view
    assert view.unreachable == ((silent_address, "no answer in time"),)
    assert view.total.connections == 5


class Terminal(io.StringIO):
    """A terminal that tells when a frame with rates has been drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn = asyncio.Event()

    def write(self, text: str) -> int:
        if "peak" in text:
            self.drawn.set()
        return super().write(text)


async def test_the_live_view_uses_the_alternate_screen_and_gives_it_back() -> None:
    terminal = Terminal()
    console = Console(file=terminal, force_terminal=True, width=100, height=30, legacy_windows=False)
    async with Admin([Role()], "127.0.0.1", 0) as admin:
        watching = asyncio.create_task(watch(console, [admin.address], 0.01))
        async with asyncio.timeout(DEADLINE_S):
            await terminal.drawn.wait()
        watching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await watching
    text = terminal.getvalue()
    assert text.startswith("\x1b[?1049h")
    assert text.rindex("\x1b[?1049l") > text.rindex("peak")


async def test_a_door_that_wants_a_token_gets_it() -> None:
    """DPS-25: from elsewhere the figures are for operators and monitors."""
    asked = []

    async def guarded(request: web.Request) -> web.Response:
        asked.append(request.headers.get("Authorization", ""))
        return web.Response(status=401)

    app = web.Application()
    app.router.add_get("/v1/stats", guarded)
    async with TestServer(app) as server:
        result = await run("--once", "--interval", "0.1", "--token", "t0", str(server.make_url("")))
    assert set(asked) == {"Bearer t0"}
    assert "segue token --service" in result.output
