"""A client with a function that fetches tokens keeps its session; one with a text is told what would have kept it."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import segue
from segue.sdk.refresher import MOST_S, refresh_delay_s
from tests.support.scripted_server import DEADLINE_S, TIME_MS, Message, ScriptedServer, error, welcome

LIFE_MS = 1_000_000
# The first refresh is due at once; those after it are at least a second later.
SOON = segue.ClientOptions(backoff=segue.Backoff(base_s=0.001, cap_s=0.002), open_timeout_s=DEADLINE_S, refresh_at=1e-6)


class Draw:
    """A generator that draws the same number each time."""

    def __init__(self, number: float) -> None:
        self._number = number

    def random(self) -> float:
        return self._number


def refreshed(message: Message) -> Message:
    return {"op": "refreshed", "id": message["id"], "expires_ms": TIME_MS + 2 * LIFE_MS * 10**6}


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    async with ScriptedServer() as running:
        running.answers["hello"] = lambda message: welcome(message) | {"expires_ms": TIME_MS + LIFE_MS}
        running.answers["refresh"] = refreshed
        yield running


def counting() -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"token-{next(numbers)}"


async def take(client: segue.Client) -> Any:
    async with asyncio.timeout(DEADLINE_S):
        return await anext(client)


@pytest.mark.parametrize(("draw", "expected"), [(0.0, 80.0), (0.5, 76.0), (1.0, 72.0)])
def test_a_token_is_replaced_when_most_of_its_life_is_over_and_not_at_the_same_moment_everywhere(draw: float, expected: float) -> None:
    """DPS-27: at 80 % with jitter."""
    assert refresh_delay_s(100.0, 0.8, Draw(draw)) == pytest.approx(expected)


@given(st.floats(-1e18, 1e18), st.floats(0.01, 0.99), st.floats(0, 1, exclude_max=True))
def test_the_delay_lies_within_the_life_of_the_token_and_is_one_that_a_timer_takes(life_s: float, at: float, draw: float) -> None:
    assert 0 <= refresh_delay_s(life_s, at, Draw(draw)) <= min(max(life_s, 0), MOST_S)


async def test_a_session_goes_on_with_the_next_token_of_the_function(server: ScriptedServer) -> None:
    """DPS-27."""
    async with segue.Client(server.url, counting(), options=SOON):
        peer = await server.next_peer()
        assert peer.hello["token"] == "token-1"
        assert (await peer.heard("refresh"))["token"] == "token-2"
        assert not peer.is_gone


async def test_a_refresh_that_cannot_be_judged_now_is_tried_again(server: ScriptedServer) -> None:
    answers = iter([error("unavailable", 4300)])

    def answer(message: Message) -> Message:
        first = next(answers, None)
        return refreshed(message) if first is None else first | {"id": message["id"]}

    server.answers["refresh"] = answer
    async with segue.Client(server.url, counting(), options=SOON):
        peer = await server.next_peer()
        assert [(await peer.heard("refresh"))["token"] for _ in range(2)] == ["token-2", "token-3"]


async def test_a_token_function_that_cannot_fetch_now_is_asked_again(server: ScriptedServer) -> None:
    tokens: Iterator[str | Exception] = iter(["first", segue.ConnectionLost("who logs users in is away"), "second"])

    async def fetch() -> str:
        token = next(tokens)
        if isinstance(token, Exception):
            raise token
        return token

    async with segue.Client(server.url, fetch, options=SOON):
        assert (await (await server.next_peer()).heard("refresh"))["token"] == "second"


async def test_what_the_token_function_raises_else_ends_the_client(server: ScriptedServer) -> None:
    tokens = iter(["first"])
    async with segue.Client(server.url, lambda: {"first": "first"}[next(tokens, "none")], options=SOON) as client:
        with pytest.raises(KeyError, match="none"):
            await take(client)


async def test_a_refused_refresh_that_ends_the_connection_ends_the_client(server: ScriptedServer) -> None:
    server.answers["refresh"] = lambda _: error("wrong-user", 4203)
    async with segue.Client(server.url, counting(), options=SOON) as client:
        with pytest.raises(segue.Refused, match="wrong-user"):
            await take(client)


async def test_a_session_that_ended_with_its_token_comes_back_with_another_one(server: ScriptedServer) -> None:
    """DPS-27."""
    late = segue.ClientOptions(backoff=SOON.backoff)
    async with segue.Client(server.url, counting(), options=late):
        await (await server.next_peer()).fail("token-expired", 4201)
        assert (await server.next_peer()).hello["token"] == "token-2"


async def test_a_client_with_one_token_ends_with_it_and_says_what_to_give_it(server: ScriptedServer) -> None:
    async with segue.Client(server.url, "text", options=SOON) as client:
        peer = await server.next_peer()
        await peer.fail("token-expired", 4201)
        with pytest.raises(segue.Refused, match=r"give it a function that fetches one \(token=fetch\)"):
            await take(client)
    assert "refresh" not in peer.ops


async def test_a_server_that_does_not_say_when_the_token_expires_is_asked_nothing(server: ScriptedServer) -> None:
    server.answers["hello"] = welcome
    async with segue.Client(server.url, counting(), options=SOON) as client:
        peer = await server.next_peer()
        await client.subscribe("hm://presence/user/bob/")
        await client.act("play")
    assert "refresh" not in peer.ops


def test_a_part_of_a_life_lies_within_it() -> None:
    for nonsense in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(segue.Misuse, match="refresh_at must lie between 0 and 1"):
            segue.ClientOptions(refresh_at=nonsense)
