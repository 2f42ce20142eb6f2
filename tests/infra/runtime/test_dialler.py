"""A link to each address that is wanted is kept, and called for again when it is lost (`Dialler`)."""

import asyncio
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from infra.kernel.frames import Published
from infra.kernel.link_timing import LinkTiming
from infra.runtime.context import Context
from infra.runtime.node import Node
from infra.runtime.wire.wire import Network, Wire
from tests.support.parties import QUICK, Make, RecordingRole, hello, met, stranger, until
from tests.support.recording_log import RecordingLog
from tests.support.wire_end import End


async def test_dialling_twice_makes_one_link(make: Make) -> None:
    called = await make("b1").listen()
    caller = make("b2").dial(called).dial(called)
    await met(called, caller)
    for _ in range(50):
        await asyncio.sleep(0)
    assert (len(caller.role.up), len(called.role.up)) == (1, 1)


async def test_what_comes_in_one_piece_with_the_hello_is_not_lost(network: Network, make: Make) -> None:
    """Called or calling."""
    called = await make("b1").listen()
    await stranger(network, called, hello(), Published(1), Published(2))
    await until(lambda: called.role.got == [Published(1), Published(2)])
    wires: list[Wire] = []
    listener = await network.listen("127.0.0.1:0", wires.append)
    caller = make("b2")
    caller.node.dial(listener.address, "broker", "sto")
    await until(lambda: wires)
    End(wires[0]).start().wire.send([hello(), Published(1), Published(2)])
    await until(lambda: caller.role.got == [Published(1), Published(2)])
    await listener.close()


@pytest.mark.parametrize(("role", "site"), [("aggregator", "sto"), ("broker", "lon")])
async def test_who_is_not_the_one_that_was_configured_is_refused(make: Make, role: str, site: str) -> None:
    """An address that leads to the wrong process is a mistake of the operator; it is logged once, and tried again."""
    called = await make("b1", role=role, site=site).listen()
    caller = make("b2").dial(called)
    await until(lambda: len(called.role.down) > 1)
    (trouble,) = caller.log.of("peer unreachable")
    assert trouble["reason"] == f"wrong-peer: {called.address} is {role} of {site}, the configuration says broker of sto"
    assert called.role.down[0][1] == f"wrong-peer: {called.address} is {role} of {site}, the configuration says broker of sto"
    assert caller.role.up == []


@pytest.mark.parametrize("end", ["close", "abort"])
async def test_a_lost_link_is_dialled_again(make: Make, end: str) -> None:
    called = await make("b1").listen()
    caller = make("b2").dial(called)
    await met(called, caller)
    getattr(called.role.links[0].wire, end)()
    await until(lambda: len(caller.role.up) == 2)
    await met(called, caller)
    assert len(caller.role.down) == len(called.role.down) == 1


async def test_a_peer_that_restarts_is_found_again_and_the_loss_is_logged_once(make: Make) -> None:
    called = await make("b1").listen()
    caller = make("b2").dial(called)
    await met(called, caller)
    await called.node.close()
    await until(lambda: caller.log.of("peer unreachable"))
    for _ in range(50):
        await asyncio.sleep(0)
    assert len(caller.log.of("link down")) == len(caller.log.of("peer unreachable")) == 1
    again = await make("b1", seed=2).listen(called.address)
    await met(again, caller)
    assert caller.role.links[0].peer.incarnation == again.node.incarnation


class UnreachableNetwork:
    """Nobody can be dialled; it notes when somebody was."""

    def __init__(self) -> None:
        self.dialled_s: list[float] = []

    async def dial(self, address: str) -> Wire:
        self.dialled_s.append(asyncio.get_running_loop().time())
        raise OSError(f"{address} cannot be reached")

    async def listen(self, address: str, on_wire: Callable[[Wire], None]) -> Any:
        raise OSError("nobody can listen")


class Cautious(random.Random):
    """Draws the longest delay each time."""

    def random(self) -> float:
        return 1.0


async def test_redialling_waits_longer_each_time_up_to_the_cap() -> None:
    """SB-60: a node that is gone is not hammered."""
    network, log = UnreachableNetwork(), RecordingLog()
    timing = LinkTiming(redial_base_s=0.002, redial_cap_s=0.016)
    node = Node(("broker", "b2", "sto"), Context(network=network, log=log, rng=Cautious(1)), RecordingRole(), timing=timing)
    node.dial("b1", "broker", "sto")
    await until(lambda: len(network.dialled_s) == 7)
    await node.close()
    pauses = [later - earlier for earlier, later in pairwise(network.dialled_s)]
    for pause, least in zip(pauses, (0.004, 0.008, 0.016, 0.016, 0.016, 0.016), strict=True):
        assert pause >= least - 0.001
    assert log.of("peer unreachable") == [{"address": "b1", "peer_role": "broker", "reason": "b1 cannot be reached"}]


async def test_a_peer_that_never_answers_the_hello_is_dialled_again(network: Network, make: Make) -> None:
    ends: list[End] = []
    listener = await network.listen("127.0.0.1:0", lambda wire: ends.append(End(wire).start()))
    caller = make("b2", timing=QUICK)
    caller.node.dial(listener.address, "broker", "sto")
    await until(lambda: len(ends) == 2)
    assert caller.log.of("peer unreachable")[0]["reason"] == "no answer within 0.2 s"
    await ends[0].until_lost()
    assert caller.role.up == []
    await listener.close()


async def test_hanging_up_ends_the_link_and_the_dialling_until_told_otherwise(make: Make) -> None:
    called = await make("b1").listen()
    caller = make("b2").dial(called)
    await met(called, caller)
    caller.node.hang_up(called.address)
    caller.node.hang_up(called.address)
    await until(lambda: called.role.down and caller.role.down)
    assert caller.role.down[0][1] == "hung up"
    for _ in range(50):
        await asyncio.sleep(0)
    assert len(called.role.up) == 1
    caller.dial(called)
    await met(called, caller)
