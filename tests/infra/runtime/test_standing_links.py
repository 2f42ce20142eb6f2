"""Links that stand: who may have one, what ends it, and that nobody else notices (`StandingLinks`)."""

import asyncio

import pytest

from infra.kernel.codec import FrameDecoder, encode
from infra.kernel.codes import BY_NAME
from infra.kernel.errors import Refused
from infra.kernel.frames import Bye, Heartbeat, Hello, Published
from infra.runtime.link import Link
from infra.runtime.wire.tcp import TcpNetwork
from infra.runtime.wire.wire import Network
from tests.support.parties import QUICK, VIEW, Make, answer, hello, met, stranger, until


@pytest.mark.parametrize("side", ["caller", "called"])
async def test_a_role_that_cannot_take_a_link_has_none(make: Make, side: str) -> None:
    """Such as the sixty-fourth subscriber: the peer is told, no link is kept, and when there is room it works."""
    called = await make("b1").listen()
    caller = make("b2")
    full, other = (caller, called) if side == "caller" else (called, caller)
    full.role.refuse, full.role.trouble = "link_up", Refused("overloaded", "no more room")
    caller.dial(called)
    await until(lambda: other.role.down)
    assert other.role.down[0][1] == "overloaded: no more room"
    assert (full.role.up, full.node.links) == ([], set())
    full.role.refuse = ""
    await met(caller, called)


async def test_a_second_process_of_a_name_is_refused_while_the_first_lives_and_taken_when_it_is_silent(make: Make) -> None:
    """Issue "duplicate node ids"."""
    called = await make("b1", timing=QUICK).listen()
    first = make("x", timing=QUICK, seed=1).dial(called)
    await met(called, first)
    second = make("x", timing=QUICK, seed=2).dial(called)
    await until(lambda: second.log.of("peer unreachable"))
    reason = "duplicate-node: broker sto/x is connected already; give each process its own name"
    assert [line["reason"] for line in second.log.of("peer unreachable")] == [reason]
    assert ("warning", "link refused") in [(level, event) for level, event, _ in called.log.lines]
    assert (first.role.down, called.role.down) == ([], [])
    first.node._heartbeats.cancel()  # it hangs
    await until(lambda: second.role.links)
    assert called.role.down[0][1] == "replaced by a newer link"
    assert [link.peer.incarnation for link in called.role.links] == [second.node.incarnation]


async def test_the_same_process_may_come_back_at_once(network: Network, make: Make) -> None:
    """Its old link may not have been found dead yet."""
    called = await make("b1").listen()
    first = await stranger(network, called, hello(incarnation=7))
    await until(lambda: called.role.links)
    second = await stranger(network, called, hello(incarnation=7))
    await until(lambda: len(called.role.up) == 2)
    assert [reason for _, reason in called.role.down] == ["replaced by a newer link"]
    assert isinstance(await answer(second), Hello)
    await first.until_lost()


async def test_one_name_may_be_in_use_at_another_role_or_called_by_us(network: Network, make: Make) -> None:
    """Both brokers of a pair dial each other: two links under one name, one each way."""
    one, other = await make("b1").listen(), await make("b2").listen()
    one.dial(other)
    await met(one, other)
    other.dial(one)
    await until(lambda: len(one.role.links) == len(other.role.links) == 2)
    await stranger(network, one, hello("b2", role="aggregator"))
    await until(lambda: len(one.role.links) == 3)
    assert one.role.down == []


async def test_a_peer_that_falls_silent_is_given_up_and_heartbeats_keep_a_link(network: Network, make: Make) -> None:
    called = await make("b1", timing=QUICK).listen()
    caller = make("b2", timing=QUICK).dial(called)
    await met(called, caller)
    mute = await stranger(network, called, hello())
    await until(lambda: called.role.down)
    assert called.role.down[0][1].startswith("silent-peer: nothing heard for 0.")
    await mute.until_lost()
    assert Heartbeat(VIEW) in mute.frames
    await until(lambda: called.node.now_s > 2 * QUICK.hello_s)
    assert (caller.role.down, len(called.role.links)) == ([], 1)


@pytest.mark.parametrize("network", [TcpNetwork], indirect=True)
async def test_a_peer_that_sends_garbage_loses_its_link_and_nobody_else_notices(network: Network, make: Make) -> None:
    """Issue "a peer that sends garbage on an internal link": a goodbye for the peer, a reason for our log."""
    called = await make("b1").listen()
    good = make("b2").dial(called)
    await met(called, good)
    reader, writer = await asyncio.open_connection(*called.address.split(":"))
    writer.write(encode(hello("bad")) + encode(Published(1)))
    await until(lambda: called.role.got == [Published(1)])
    writer.write(b"\x00\x00\x00\x02\xc1\xc1")
    said = FrameDecoder().feed(await reader.read())
    assert isinstance(said[-1], Bye)
    ((link, reason),) = called.role.down
    assert (link.peer.node, reason) == ("bad", f"bad-link-frame: {said[-1].reason}")
    assert called.log.of("link down")[0]["reason"] == reason
    writer.close()
    await writer.wait_closed()
    good.role.links[0].send(Published(2))
    await until(lambda: called.role.got == [Published(1), Published(2)])


async def test_a_second_hello_breaks_the_link_and_what_came_before_it_counts(network: Network, make: Make) -> None:
    called = await make("b1").listen()
    peer = await stranger(network, called, hello(), Published(1), hello(), Published(2))
    assert (await peer.until_heard(2))[1] == Bye(BY_NAME["bad-link-frame"].number, "hello was said already")
    assert called.role.got == [Published(1)]
    assert called.role.down[0][1] == "bad-link-frame: hello was said already"


@pytest.mark.parametrize(("number", "shown"), [(4000, "going-away: I am tired"), (77, "77: I am tired")])
async def test_what_was_said_before_a_goodbye_counts_and_its_reason_is_known(network: Network, make: Make, number: int, shown: str) -> None:
    """A node that drains says its last things in one piece with the goodbye."""
    called = await make("b1").listen()
    peer = await stranger(network, called, hello(), Published(1), Bye(number, "I am tired"), Published(2))
    await peer.until_lost()
    assert (called.role.got, called.role.down[0][1]) == ([Published(1)], shown)


async def test_a_long_goodbye_is_told_as_far_as_a_log_can_hold_it(network: Network, make: Make) -> None:
    called = await make("b1").listen()
    peer = await stranger(network, called, hello(), Bye(4000, "gone\x1b[2J" + "x" * 60_000))
    await peer.until_lost()
    reason = called.role.down[0][1]
    assert reason.startswith("going-away: gone\\u001b[2Jxx")
    assert len(reason) < 400


async def test_a_role_that_refuses_frames_loses_that_link_and_no_other(network: Network, make: Make) -> None:
    called = await make("b1").listen()
    good, bad = await stranger(network, called, hello("good")), await stranger(network, called, hello("bad"))
    await until(lambda: len(called.role.links) == 2)
    called.role.refuse = "frames"
    bad.wire.send([Published(1)])
    assert (await bad.until_heard(2))[-1] == Bye(BY_NAME["forbidden"].number, "not here")
    await bad.until_lost()
    called.role.refuse = ""
    good.wire.send([Published(2)])
    await until(lambda: called.role.got == [Published(1), Published(2)])
    assert [link.peer.node for link in called.role.links] == ["good"]
    assert [reason for _, reason in called.role.down] == ["forbidden: not here"]


async def test_a_peer_for_whom_too_much_waits_loses_its_link_with_the_reason_and_no_other(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is never dropped would grow without end; it dials again and is told everything anew."""
    called = await make("b1").listen()
    slow, other = make("b2").dial(called), make("b3").dial(called)
    await until(lambda: len(called.role.links) == 2)
    (link,) = [each for each in called.role.links if each.peer.node == "b2"]
    link.max_bytes = 1000
    monkeypatch.setattr(type(link.wire), "queued_bytes", property(lambda wire: 1000 + (wire is link.wire)))
    link.send(Published(1))
    await until(lambda: len(called.role.up) == 3)
    assert [each.peer.node for each, _ in called.role.down] == ["b2"]
    assert called.role.down[0][1] == "slow-link: 1001 bytes wait for b2, a link may hold 1000: see max_link_bytes"
    assert (called.node.slow, called.node.refused, other.role.down) == (1, 0, [])
    await until(lambda: bool(slow.role.down))
    assert slow.role.down[0][1] == f"slow-link: {called.role.down[0][1].removeprefix('slow-link: ')}"
    assert Published(1) in slow.role.got


async def test_a_defect_in_a_role_costs_one_link_and_is_logged(network: Network, make: Make) -> None:
    """Half-done work on a link cannot be undone; a new link starts clean."""
    called = await make("b1").listen()
    good, bad = await stranger(network, called, hello("good")), await stranger(network, called, hello("bad"))
    await until(lambda: len(called.role.links) == 2)
    called.role.refuse, called.role.trouble = "frames", KeyError("oops")
    bad.wire.send([Published(1)])
    await until(lambda: called.role.down)
    assert called.role.down[0][1].startswith("internal-error")
    assert [level for level, event, _ in called.log.lines if event == "frames could not be handled"] == ["exception"]
    assert [link.peer.node for link in called.role.links] == ["good"]
    assert good.lost == []


async def test_a_link_that_cannot_be_given_up_stops_no_heartbeat_of_the_others(network: Network, make: Make) -> None:
    called = await make("b1", timing=QUICK).listen()
    for name in ("x", "y"):
        await stranger(network, called, hello(name))
    await until(lambda: len(called.role.links) == 2)
    link_down, gone = called.role.link_down, []

    def fail_once(link: Link, reason: str) -> None:
        gone.append(link)
        link_down(link, reason)
        if len(gone) == 1:
            raise KeyError("oops")

    called.role.link_down = fail_once  # type: ignore[method-assign]
    await until(lambda: len(gone) == 2)
    assert called.node.loops.failures["heartbeats"] == 1


@pytest.mark.parametrize("skew_s", [-3600.0, 3600.0])
async def test_a_peer_whose_clock_is_an_hour_off_is_linked_with_a_warning_and_nothing_else_changes(make: Make, skew_s: float) -> None:
    """Issue "a clock an hour off": no time of ours comes from a peer."""
    called = await make("b1", timing=QUICK).listen()
    right, wrong = make("b2", timing=QUICK).dial(called), make("b3", timing=QUICK, skew_s=skew_s).dial(called)
    await until(lambda: len(called.role.links) == 2)
    ticks = called.role.ticks
    await until(lambda: called.role.ticks > ticks + 2 * QUICK.silent_s / QUICK.heartbeat_s)
    assert [line["peer"] for line in called.log.of("clocks differ")] == ["b3"]
    assert called.log.of("clocks differ")[0]["skew_s"] == skew_s
    assert wrong.log.of("clocks differ")[0]["skew_s"] == -skew_s
    assert (right.log.of("clocks differ"), called.role.down, wrong.role.down) == ([], [], [])
