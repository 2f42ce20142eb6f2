"""Calls between services: answers, refusals, and answers that do not come."""

import asyncio

import pytest

from infra.kernel.errors import Refused, Unavailable
from infra.kernel.frames import Call
from infra.runtime.wire.memory import MemoryNetwork
from tests.services.scripted_service import ScriptedService
from tests.support.eventually import eventually


async def test_a_call_is_answered_with_what_the_peer_says() -> None:
    network = MemoryNetwork()
    async with ScriptedService(network, "social", "sto/s1", lambda call: call.body + b"!") as social:
        async with ScriptedService(network, "playlist", "sto/l1") as caller:
            peers = caller.dial("social", "sto/s1")
            await eventually(lambda: not peers.missing())
            assert await peers.call("social", "ann", "is-friend", b"body") == b"body!"
            assert [(call.user, call.op) for call in social.calls] == [("ann", "is-friend")]


async def test_calls_of_one_user_go_to_one_node_and_users_are_spread() -> None:
    network = MemoryNetwork()
    async with ScriptedService(network, "social", "sto/s1") as one, ScriptedService(network, "social", "sto/s2") as two:
        async with ScriptedService(network, "playlist", "sto/l1") as caller:
            peers = caller.dial("social", "sto/s1", "sto/s2")
            await eventually(lambda: len(caller.node.links) == 2)
            for n in range(40):
                await peers.call("social", f"u{n % 20}", "is-friend", b"")
            users = [{call.user for call in each.calls} for each in (one, two)]
            assert all(users)
            assert users[0].isdisjoint(users[1])


async def test_a_refusal_is_raised_and_what_may_pass_is_unavailable() -> None:
    network = MemoryNetwork()

    def script(call: Call) -> bytes:
        raise Refused(call.op)

    async with ScriptedService(network, "social", "sto/s1", script), ScriptedService(network, "playlist", "sto/l1") as caller:
        peers = caller.dial("social", "sto/s1")
        await eventually(lambda: not peers.missing())
        with pytest.raises(Refused, match="bad-field"):
            await peers.call("social", "ann", "bad-field", b"")
        for passing in ("unavailable", "draining", "internal-error"):
            with pytest.raises(Unavailable):
                await peers.call("social", "ann", passing, b"")


async def test_without_a_node_without_an_answer_and_with_a_node_that_goes_a_call_is_unavailable() -> None:
    network = MemoryNetwork()
    async with ScriptedService(network, "playlist", "sto/l1") as caller:
        peers = caller.dial("social", "sto/s1", timeout_s=0.02)
        with pytest.raises(Unavailable, match="no social service"):
            await peers.call("social", "ann", "is-friend", b"")
        async with ScriptedService(network, "social", "sto/s1", lambda call: None):
            await eventually(lambda: not peers.missing())
            with pytest.raises(Unavailable, match="social did not answer is-friend: no answer within"):
                await peers.call("social", "ann", "is-friend", b"")
            open_call = asyncio.ensure_future(peers.call("social", "ann", "is-friend", b""))
            await asyncio.sleep(0)
        with pytest.raises(Unavailable):
            await open_call
        assert peers.missing() == ["social"]
