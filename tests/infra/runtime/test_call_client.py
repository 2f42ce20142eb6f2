"""Calls over links that are awaited: each ends with its reply or with Unavailable, and leaves nothing open."""

import asyncio
from typing import cast

import pytest

from infra.kernel.errors import Unavailable
from infra.kernel.frames import NOBODY, Call, Hello, Reply, View
from infra.runtime.call_client import CallClient
from infra.runtime.link import Link


class RecordingLink:
    """A link to a node of the role `social` that keeps what was sent."""

    peer = Hello("social", "s1", "sto", 1, 1, View(0, ()))

    def __init__(self) -> None:
        self.sent: list[Call] = []

    def send(self, frame: Call) -> None:
        self.sent.append(frame)


def link() -> tuple[Link, list[Call]]:
    """Returns a link, and what is sent over it."""
    recording = RecordingLink()
    return cast(Link, recording), recording.sent


async def turns(count: int = 3) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_call_is_answered_whatever_the_code_says_and_says_whom_it_is_about() -> None:
    client, (there, sent) = CallClient(60.0), link()
    calls = [
        asyncio.ensure_future(client.call(there, "refresh", b"one", user="ann")),
        asyncio.ensure_future(client.call(there, "append", b"two", queue="append-7")),
    ]
    await turns()
    assert sent == [Call(1, "ann", "", "refresh", b"one"), Call(2, NOBODY, "", "append", b"two", "append-7")]
    replies = [Reply(2, "bad-field", "no", b""), Reply(1, "", "", b"done")]
    for reply in replies:
        client.reply(there, reply)
    assert await asyncio.gather(*calls) == replies[::-1]


async def test_a_reply_over_another_link_is_ignored() -> None:
    client, (there, _), (other, _) = CallClient(60.0), link(), link()
    call = asyncio.ensure_future(client.call(there, "refresh", b""))
    await turns()
    client.reply(other, Reply(1, "", "", b"not mine"))
    client.reply(there, Reply(1, "", "", b"mine"))
    assert (await call).body == b"mine"


async def test_calls_over_a_lost_link_are_unavailable_and_those_over_another_one_go_on() -> None:
    client, (lost, _), (there, _) = CallClient(60.0), link(), link()
    calls = [asyncio.ensure_future(client.call(each, "refresh", b"")) for each in (lost, there)]
    await turns()
    client.link_down(lost)
    client.reply(there, Reply(2, "", "", b"two"))
    with pytest.raises(Unavailable, match="the social service went away before it answered"):
        await calls[0]
    assert (await calls[1]).body == b"two"


async def test_each_call_that_gets_no_reply_ends_in_its_time_also_when_others_came_in_between() -> None:
    client, (there, _) = CallClient(0.02), link()
    for _ in range(2):  # the timer is set again after it has rung
        calls = [asyncio.ensure_future(client.call(there, "refresh", b"")) for _ in range(3)]
        await turns()
        for outcome in await asyncio.gather(*calls, return_exceptions=True):
            assert isinstance(outcome, Unavailable)
            assert str(outcome) == "no answer within 0.02 s"


async def test_what_is_open_is_bounded_and_a_cancelled_call_makes_room() -> None:
    client, (there, sent) = CallClient(60.0, max_calls=2, max_bytes=10), link()
    first = asyncio.ensure_future(client.call(there, "refresh", b"x" * 8))
    await turns()
    with pytest.raises(Unavailable, match="too many requests"):
        await client.call(there, "refresh", b"x" * 3)
    second = asyncio.ensure_future(client.call(there, "refresh", b""))
    await turns()
    with pytest.raises(Unavailable, match="too many requests"):
        await client.call(there, "refresh", b"")
    first.cancel()
    await turns()
    third = asyncio.ensure_future(client.call(there, "refresh", b"x" * 10))
    await turns()
    client.reply(there, Reply(1, "", "", b"nobody waits for it"))
    for n in (2, 3):
        client.reply(there, Reply(n, "", "", b"%d" % n))
    assert [(await call).body for call in (second, third)] == [b"2", b"3"]
    assert [call.n for call in sent] == [1, 2, 3]


async def test_a_reply_that_comes_in_the_turn_in_which_its_call_is_cancelled_harms_nobody() -> None:
    client, (there, _) = CallClient(60.0), link()
    call = asyncio.ensure_future(client.call(there, "refresh", b""))
    await turns()
    call.cancel()
    client.reply(there, Reply(1, "", "", b""))
    with pytest.raises(asyncio.CancelledError):
        await call
