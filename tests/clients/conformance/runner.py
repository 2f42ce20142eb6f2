"""The runner of the conformance scenarios (clients/conformance/README.md): it plays the server's part, and has a driver do the client's."""

import asyncio
import json
from typing import Any, Final

import pytest

from tests.architecture.sources import ROOT
from tests.clients.conformance.drivers import Driver, FailedCallError
from tests.support.scripted_server import Message, Peer, ScriptedServer

SCENARIOS: Final[dict[str, Any]] = json.loads((ROOT / "clients" / "conformance" / "scenarios.json").read_text(encoding="utf-8"))
DEADLINE_S: Final = 30.0
# A scenario names those of these that it is about; others are passed over.
UNASKED: Final = ("state",)
STRICT: Final = ("event", "gap", "ended", "friends", "offloaded", "announcement", "notification")


class Runner:
    """One scenario that `driver` plays against a server of its own."""

    def __init__(self, driver: Driver, server: ScriptedServer) -> None:
        self._driver = driver
        self._server = server
        self._peer: Peer | None = None
        self._calls: list[asyncio.Task[Any]] = []
        self._asked: Message = {}

    async def play(self, steps: list[dict[str, Any]]) -> None:
        """Plays `steps` in order. Fails at the first one that does not go as it says, and where more happens than they say."""
        for number, step in enumerate(steps, 1):
            try:
                async with asyncio.timeout(DEADLINE_S):
                    await self._step(dict(step))
            except TimeoutError:
                pytest.fail(f"step {number} {step}: nothing happened for {DEADLINE_S:g} s")
            except AssertionError as error:
                raise AssertionError(f"step {number} {step}: {error}") from error
        await self._rest()

    async def _step(self, step: dict[str, Any]) -> None:
        name = next(iter(step))
        await getattr(self, f"_{name}")(step.pop(name), **step)

    async def _call(self, name: str, /, **args: Any) -> None:
        if name == "connect":
            args = SCENARIOS["options"] | {"tokens": ["secret"], "urls": [self._server.url] * args.pop("addresses", 1)} | args
        self._calls.append(asyncio.create_task(self._driver.call(name, args)))

    async def _returns(self, value: Any, call: int = -1) -> None:
        matches(await self._calls.pop(call), value)

    async def _raises(self, error: dict[str, Any]) -> None:
        try:
            found = await self._calls.pop()
        except FailedCallError as failed:
            matches({"kind": failed.kind, "code": failed.code}, error)
        else:
            raise AssertionError(f"it returned {found}")

    async def _tells(self, kind: str, /, **value: Any) -> None:
        while True:
            told = await self._driver.told[kind].get()
            if kind not in UNASKED or told["phase"] == value["phase"]:
                return matches(told, value)

    async def _connects(self, hello: dict[str, Any]) -> None:
        self._peer = await self._server.next_peer()
        matches(self._peer.hello, hello)
        self._asked = self._peer.hello

    async def _hears(self, message: dict[str, Any], without: tuple[str, ...] = ()) -> None:
        assert self._peer is not None
        self._asked = await self._peer.next()
        matches(self._asked, message)
        assert not (surplus := [field for field in without if field in self._asked]), f"it says {surplus}"

    async def _answers(self, message: Message) -> None:
        await self._says(message | {"id": self._asked.get("id")})

    async def _says(self, message: Message) -> None:
        assert self._peer is not None
        await self._peer.send(SCENARIOS["messages"].get(message["op"], {}) | message)

    async def _drops(self, _: bool) -> None:
        assert self._peer is not None
        self._peer.drop()

    async def _closes(self, number: int) -> None:
        assert self._peer is not None
        await self._peer.close(number)

    async def _ends(self, _: bool) -> None:
        """Waits until the client has closed its connection."""
        assert self._peer is not None
        await self._peer.gone()

    async def _rest(self) -> None:
        assert not self._calls, "a call of the scenario was not waited for"
        if self._peer is not None and not self._peer.is_gone:
            await self._driver.call("ping", {})  # what was sent before the pong is told before it returns
            assert self._peer.waiting() == [], "the client says more than the scenario"
        surplus = {kind: self._driver.told[kind].get_nowait() for kind in STRICT if not self._driver.told[kind].empty()}
        assert surplus == {}, "the client tells more than the scenario"


def matches(found: Any, expected: Any) -> None:
    """Checks that `found` is what is `expected`; objects may have more fields than that. Fails with both."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name, value in expected.items():
            assert name in found, f"no {name} in {found}"
            matches(found[name], value)
    elif isinstance(expected, list) and isinstance(found, list | tuple):
        assert len(found) == len(expected), f"{found} is not {expected}"
        for one, other in zip(found, expected, strict=True):
            matches(one, other)
    else:
        assert found == expected, f"{found!r} is not {expected!r}"
