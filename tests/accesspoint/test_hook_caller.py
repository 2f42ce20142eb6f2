"""How the hook is called: as whom, how many times at once, and what of it is logged."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from accesspoint.authorization.hook_messages import HookReply
from accesspoint.authorization.hook_options import HookOptions
from accesspoint.hook_caller import QUIET_S, HookCaller
from infra.kernel.errors import ConfigError, Refused
from infra.runtime.context import Context
from infra.runtime.logs import get_logger
from infra.runtime.outgoing.options import OutgoingOptions
from infra.runtime.wire.memory import MemoryNetwork
from tests.support.hook_backend import HookBackend, hook_backend


class Moving:
    """A clock that the test moves."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def context(now: Moving) -> Context:
    """Returns a world in which this machine may be called."""
    log = get_logger("accesspoint", "ap1", "sto")
    outgoing = OutgoingOptions(private=["127.0.0.1"])
    return Context(network=MemoryNetwork(), log=log, rng=random.Random(1), now=now, outgoing=outgoing)


@asynccontextmanager
async def calling(**settings: Any) -> AsyncIterator[tuple[HookCaller, HookBackend, Moving]]:
    """Gives a caller, a server, and the caller's clock."""
    clock = Moving()
    async with hook_backend() as backend:
        caller = HookCaller(HookOptions(subscribe=f"{backend.url}/subscribe", **settings), context(clock))
        try:
            yield caller, backend, clock
        finally:
            await caller.close()


async def ask(caller: HookCaller, url: str) -> HookReply | Refused:
    """Asks, and returns what is answered."""
    answered: asyncio.Future[HookReply | Refused] = asyncio.get_running_loop().create_future()
    caller.post(url, b'{"user": "ann", "topics": []}', lambda reply, _: answered.set_result(reply))
    return await answered


@pytest.mark.parametrize(
    ("secret", "mode", "says"),
    [
        ("short", 0o600, "at least 32"),
        ("x" * 40, 0o644, "chmod 600"),
        ("spaces in it " * 4, 0o600, "no HTTP header"),
        ("å" * 40, 0o600, "no HTTP"),
    ],
)
async def test_a_secret_that_cannot_be_shown_is_refused_at_the_start(secret: str, mode: int, says: str, tmp_path: Path) -> None:
    path = tmp_path / "hook.key"
    path.write_text(secret)
    path.chmod(mode)
    with pytest.raises(ConfigError, match=says):
        HookCaller(HookOptions(subscribe="https://there/x", secret_file=path), context(Moving()))


async def test_a_server_that_is_not_there_is_unavailable_and_clients_are_not_told_where_it_is() -> None:
    async with calling() as (caller, _, _), hook_backend() as gone:
        url = gone.url
    async with calling() as (caller, _, _):
        with capture_logs() as lines:
            found = await ask(caller, f"{url}/subscribe")
        assert isinstance(found, Refused)
        assert (found.code.name, "127.0.0.1" in found.reason) == ("unavailable", False)
        assert [line["url"] for line in lines] == [f"{url}/subscribe"]


async def test_what_is_wrong_is_logged_once_in_a_while_for_each_url() -> None:
    async with calling() as (caller, _, clock):
        with capture_logs() as lines:
            for url in ("https://a", "https://a", "https://b"):
                caller.complain(url, "it is wrong")
            assert [line["url"] for line in lines] == ["https://a", "https://b"]
            clock.now_s = QUIET_S
            caller.complain("https://a", "it is wrong")
        assert len(lines) == 3


async def test_closing_ends_what_is_under_way() -> None:
    async with calling() as (caller, backend, _):
        backend.mood, answers = "slow", list[object]()
        caller.post(f"{backend.url}/subscribe", b'{"user": "ann", "topics": []}', lambda reply, _: answers.append(reply))
        await backend.arrived.wait()
        assert caller.open == 1
        await caller.close()
        assert (caller.open, answers) == (0, [])


async def test_a_defect_behind_an_answer_is_logged_and_stops_nothing() -> None:
    def breaks(_: object, now_s: float) -> None:
        raise ZeroDivisionError("of our making")

    async with calling(max_open=1) as (caller, backend, _):
        with capture_logs() as lines:
            caller.post(f"{backend.url}/subscribe", b'{"user": "ann", "topics": []}', breaks)
            assert isinstance(await ask(caller, f"{backend.url}/subscribe"), HookReply)
        assert [line["log_level"] for line in lines] == ["error"]


async def test_the_secret_is_read_again_and_one_that_cannot_be_used_leaves_the_old_one(tmp_path: Path) -> None:
    """DPS-26: SIGHUP, as for all other secrets."""
    path = tmp_path / "hook.key"
    path.write_text("first-" * 8)
    path.chmod(0o600)
    async with calling(secret_file=path) as (caller, backend, _):
        renew = caller.on_hang_up
        assert renew is not None
        shown = []
        for secret in ("first-" * 8, "second" * 8, "short"):
            path.write_text(secret)
            with capture_logs() as lines:
                renew()
            await ask(caller, f"{backend.url}/subscribe")
            shown.append((backend.headers["Authorization"], lines[0]["log_level"]))
    assert shown == [(f"Bearer {'first-' * 8}", "info"), (f"Bearer {'second' * 8}", "info"), (f"Bearer {'second' * 8}", "error")]


async def test_without_a_secret_there_is_nothing_to_read_again() -> None:
    async with calling() as (caller, _, _):
        assert caller.on_hang_up is None
