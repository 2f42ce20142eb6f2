"""Two nodes find each other, stay together and part."""

import time

import pytest

from infra.kernel.frames import AnyFrame, Deliver, Published
from infra.runtime.link import Link
from infra.runtime.wire.tcp import TcpNetwork
from infra.runtime.wire.wire import Network
from tests.support.parties import NOW_S, QUICK, VIEW, Make, hello, met, stranger, until


async def test_both_sides_learn_who_the_other_is(make: Make) -> None:
    called = await make("b1").listen()
    caller = make("b2").dial(called)
    await met(called, caller)
    (here,), (there,) = caller.role.links, called.role.links
    assert (here.peer.role, here.peer.node, here.peer.site, here.peer.view) == ("broker", "b1", "sto", VIEW)
    assert (there.peer.node, there.peer.incarnation, there.peer.time_ms) == ("b2", caller.node.incarnation, int(NOW_S * 1000))
    assert (here.dialled, there.dialled) == (called.address, None)
    assert (caller.node.links, called.node.links) == ({here}, {there})
    here.send(Published(1))
    there.send(Published(2))
    await until(lambda: caller.role.got and called.role.got)
    assert (called.role.got, caller.role.got) == ([Published(1)], [Published(2)])


async def test_a_process_that_was_stalled_does_not_give_up_its_peers(network: Network, make: Make) -> None:
    """Time is counted in heartbeats of our own: what a peer could not be heard in is no silence of the peer."""
    called = await make("b1", timing=QUICK).listen()
    await stranger(network, called, hello())
    await until(lambda: called.role.links)
    ticks = called.role.ticks
    time.sleep(2 * QUICK.silent_s)  # noqa: ASYNC251 - the whole loop stands still
    await until(lambda: called.role.ticks > ticks + 1)
    assert called.role.down == []


async def test_a_node_that_is_closed_takes_nobody_and_calls_nobody(network: Network, make: Make) -> None:
    """Not even a caller that was on its way."""
    called = await make("b1").listen()
    waiting = await stranger(network, called)
    if isinstance(network, TcpNetwork):
        await until(lambda: called.node.strangers == 1)
    await called.node.close()
    waiting.wire.send([hello()])
    await waiting.until_lost()
    called.dial(called)
    assert (called.role.up, called.node.strangers, waiting.frames) == ([], 0, [])


async def test_what_a_role_said_last_still_arrives_when_its_node_is_closed(make: Make) -> None:
    called = await make("b1").listen()
    caller = make("b2").dial(called)
    await met(called, caller)
    last: list[AnyFrame] = [Deliver([n], [b"x" * 4_000_000]) for n in range(4)]
    for frame in last:
        called.role.links[0].send(frame)
    await called.node.close()
    await until(lambda: caller.role.got == last)


async def test_a_defect_in_a_tick_stops_no_heartbeat(make: Make) -> None:
    called = await make("b1", timing=QUICK).listen()
    called.role.refuse, called.role.trouble = "tick", KeyError("oops")
    caller = make("b2", timing=QUICK).dial(called)
    await met(called, caller)
    ticks = called.role.ticks
    await until(lambda: called.role.ticks >= ticks + 3 * QUICK.silent_s / QUICK.heartbeat_s)
    assert (called.role.down, caller.role.down) == ([], [])
    assert called.node.loops.failures["heartbeats"] >= called.role.ticks - 1
    assert [line["loop"] for line in called.log.of("a step failed; it goes on with the next one")] == ["heartbeats"]


async def test_closing_closes_every_link_whatever_the_role_makes_of_it(make: Make) -> None:
    called = await make("b1").listen()
    callers = [make(name).dial(called) for name in ("x", "y")]
    await until(lambda: len(called.role.links) == 2)
    link_down = called.role.link_down

    def fail(link: Link, reason: str) -> None:
        link_down(link, reason)
        raise KeyError(link.peer.node)

    called.role.link_down = fail  # type: ignore[method-assign]
    with pytest.raises(ExceptionGroup) as raised:
        await called.node.close()
    assert {str(error) for error in raised.value.exceptions} == {"'x'", "'y'"}
    assert not called.node.links
    await until(lambda: all(caller.role.down for caller in callers))
