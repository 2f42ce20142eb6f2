"""Two nodes find each other, stay together, lose each other and find each other again; nobody else is let in."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from typing import Any

import pytest

from infra.kernel.codec import FrameDecoder, encode
from infra.kernel.codes import BY_NAME
from infra.kernel.errors import Refused
from infra.kernel.frames import PROTOCOL, AnyFrame, Bye, Deliver, Heartbeat, Hello, Published, View
from infra.kernel.link_timing import LinkTiming
from infra.runtime.context import Context
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler, ToRole
from infra.runtime.node import Node
from infra.runtime.wire.memory import MemoryNetwork
from infra.runtime.wire.tcp import TcpNetwork
from infra.runtime.wire.wire import Network, Wire
from tests.support.recording_log import RecordingLog
from tests.support.talkative import talkative
from tests.support.wire_end import DEADLINE_S, End

TIMING = LinkTiming(heartbeat_s=0.01, silent_s=0.06, hello_s=0.2, redial_base_s=0.001, redial_cap_s=0.01)
SLOW = LinkTiming(heartbeat_s=60.0, silent_s=300.0, hello_s=60.0, redial_base_s=0.001, redial_cap_s=0.01)
NOW_S = 1_700_000_000.0
TALKATIVE = talkative("broker", "aggregator")
VIEW = View(3, ("b1", "b2"))


class RecordingRole:
    """A role that notes everything; `refuse` names the method that is to raise `trouble`."""

    def __init__(self) -> None:
        self.up: list[Link] = []
        self.down: list[tuple[Link, str]] = []
        self.got: list[AnyFrame] = []
        self.ticks = 0
        self.refuse = ""
        self.trouble: Exception = Refused("forbidden", "not here")

    def _may(self, what: str) -> None:
        if what == self.refuse:
            raise self.trouble

    @property
    def links(self) -> list[Link]:
        lost = [link for link, _ in self.down]
        return [link for link in self.up if link not in lost]

    def view(self) -> View:
        return VIEW

    def admit(self, hello: Hello) -> None:
        self._may("admit")

    def link_up(self, link: Link) -> LinkHandler:
        self._may("link_up")
        self.up.append(link)
        return ToRole(self, link)

    def link_down(self, link: Link, reason: str) -> None:
        assert link in self.links, "link_down once for each link that is up"
        self.down.append((link, reason))

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        assert link in self.links
        self.got += [frame for frame in frames if not isinstance(frame, Heartbeat)]
        self._may("frames")

    def tick(self, now: float) -> None:
        self.ticks += 1
        self._may("tick")


class Party:
    """A node with its role and its log."""

    def __init__(
        self,
        network: Network,
        name: str,
        *,
        seed: int = 1,
        role: str = "broker",
        site: str = "sto",
        timing: LinkTiming = TIMING,
        skew_s: float = 0,
    ) -> None:
        self.role, self.log = RecordingRole(), RecordingLog()
        self.address = ""
        self.strangers: list[End] = []
        rng = random.Random(f"{name} {seed}")
        context = Context(network=network, log=self.log, rng=rng, wall=lambda: NOW_S + skew_s)
        self.node = Node((role, name, site), context, self.role, timing=timing, link_kinds=TALKATIVE)

    async def listen(self, address: str = "127.0.0.1:0") -> "Party":
        self.address = await self.node.listen(address)
        return self

    def dial(self, other: "Party", role: str = "broker", site: str = "sto") -> "Party":
        self.node.dial(other.address, role, site)
        return self


Make = Callable[..., Party]


@pytest.fixture(params=[MemoryNetwork, TcpNetwork], ids=["memory", "tcp"])
def network(request: pytest.FixtureRequest) -> Network:
    network: Network = request.param()
    return network


@pytest.fixture
async def make(network: Network) -> AsyncIterator[Make]:
    """Makes parties that are closed in the end, when no task may be left."""
    parties: list[Party] = []

    def make(name: str, **options: Any) -> Party:
        parties.append(Party(network, name, **options))
        return parties[-1]

    yield make
    for party in parties:
        await party.node.close()
        await party.node.close()
        assert party.role.links == []
        assert not party.node.links
        for end in party.strangers:
            end.wire.abort()
            await end.until_lost()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def until(condition: Callable[[], object]) -> None:
    """Waits for a condition on the state of nodes. Fails after a deadline."""
    deadline_s = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline_s, "condition not met"
        await asyncio.sleep(0)


async def met(one: Party, other: Party) -> None:
    await until(lambda: one.role.links and other.role.links)


def hello(name: str = "x", *, role: str = "broker", incarnation: int = 7, version: int = PROTOCOL, time_s: float = NOW_S) -> Hello:
    return Hello(role, name, "sto", incarnation, int(time_s * 1000), View(0, ()), version)


async def stranger(network: Network, party: Party, *said: AnyFrame) -> End:
    """Returns a peer that is no node: it says `said` and nothing else."""
    end = End(await network.dial(party.address)).start()
    party.strangers.append(end)
    if said:
        end.wire.send(said)
    return end


async def answer(end: End) -> AnyFrame:
    return (await end.until_heard(1))[0]


# Meeting.


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


async def test_who_has_no_business_here_is_told_so(network: Network, make: Make) -> None:
    called = await make("b1").listen()
    called.role.refuse = "admit"
    peer = await stranger(network, called, hello())
    assert await answer(peer) == Bye(BY_NAME["forbidden"].number, "not here")
    await peer.until_lost()
    assert (called.role.up, called.node.refused) == ([], 1)
    caller = make("b2").dial(called)
    await until(lambda: caller.log.of("peer unreachable"))
    assert caller.log.of("peer unreachable")[0]["reason"] == "forbidden: not here"


async def test_another_version_is_refused_by_whoever_sees_it(network: Network, make: Make) -> None:
    called = await make("b1").listen()
    assert await answer(await stranger(network, called, hello(version=2))) == Bye(4401, "we speak version 1, the peer 2")
    ends: list[End] = []
    listener = await network.listen("127.0.0.1:0", lambda wire: ends.append(End(wire).start()))
    caller = make("b2")
    caller.node.dial(listener.address, "broker", "sto")
    await until(lambda: ends and ends[0].frames)
    ends[0].wire.send([hello(version=2)])
    assert (await ends[0].until_heard(2))[1] == Bye(4401, "we speak version 1, the peer 2")
    assert caller.role.up == []
    await listener.close()


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


# One name, one process.


async def test_a_second_process_of_a_name_is_refused_while_the_first_lives_and_taken_when_it_is_silent(make: Make) -> None:
    """Issue "duplicate node ids"."""
    called = await make("b1").listen()
    first = make("x", seed=1).dial(called)
    await met(called, first)
    second = make("x", seed=2).dial(called)
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
    called = await make("b1", timing=SLOW).listen()
    first = await stranger(network, called, hello(incarnation=7))
    await until(lambda: called.role.links)
    second = await stranger(network, called, hello(incarnation=7))
    await until(lambda: len(called.role.up) == 2)
    assert [reason for _, reason in called.role.down] == ["replaced by a newer link"]
    assert isinstance(await answer(second), Hello)
    await first.until_lost()


async def test_who_comes_back_needs_no_room_beside_their_old_link(network: Network, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A role that is full would otherwise refuse everybody whose old link has not been found dead yet."""
    called = await make("b1", timing=SLOW).listen()

    def admit(hello: Hello) -> None:
        if called.role.links:
            raise Refused("overloaded")

    monkeypatch.setattr(called.role, "admit", admit)
    await stranger(network, called, hello(incarnation=7))
    await until(lambda: called.role.links)
    again = await stranger(network, called, hello(incarnation=7))
    await until(lambda: len(called.role.up) == 2)
    assert isinstance(await answer(again), Hello)
    other = await stranger(network, called, hello("b3"))
    said = await answer(other)
    assert isinstance(said, Bye)
    assert said.number == BY_NAME["overloaded"].number


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


# Silence, loss, return.


async def test_a_peer_that_falls_silent_is_given_up_and_heartbeats_keep_a_link(network: Network, make: Make) -> None:
    called = await make("b1").listen()
    caller = make("b2").dial(called)
    await met(called, caller)
    mute = await stranger(network, called, hello())
    await until(lambda: called.role.down)
    assert called.role.down[0][1].startswith("silent-peer: nothing heard for 0.")
    await mute.until_lost()
    assert Heartbeat(VIEW) in mute.frames
    await until(lambda: called.node.now_s > 2 * TIMING.hello_s)
    assert (caller.role.down, len(called.role.links)) == ([], 1)


async def test_a_process_that_was_stalled_does_not_give_up_its_peers(network: Network, make: Make) -> None:
    """Time is counted in heartbeats of our own: what a peer could not be heard in is no silence of the peer."""
    called = await make("b1").listen()
    await stranger(network, called, hello())
    await until(lambda: called.role.links)
    ticks = called.role.ticks
    time.sleep(2 * TIMING.silent_s)  # noqa: ASYNC251 - the whole loop stands still
    await until(lambda: called.role.ticks > ticks + 1)
    assert called.role.down == []


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
    caller = make("b2")
    caller.node.dial(listener.address, "broker", "sto")
    await until(lambda: len(ends) == 2)
    assert caller.log.of("peer unreachable")[0]["reason"] == "no answer within 0.2 s"
    await ends[0].until_lost()
    assert caller.role.up == []
    await listener.close()


async def test_a_caller_that_never_says_hello_is_turned_away(network: Network, make: Make) -> None:
    called = await make("b1").listen()
    mute = await stranger(network, called)
    assert await answer(mute) == Bye(BY_NAME["hello-timeout"].number, "no hello within 0.2 s")
    await mute.until_lost()
    assert (called.role.up, called.node.refused) == ([], 1)


async def test_a_caller_that_leaves_before_its_hello_leaves_a_line_in_the_log(network: Network, make: Make) -> None:
    called = await make("b1").listen()
    (await stranger(network, called)).wire.close()
    await until(lambda: called.log.of("peer left before its hello"))
    assert called.node.refused == 0


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


async def test_a_node_that_is_closed_takes_nobody_and_calls_nobody(network: Network, make: Make) -> None:
    """Not even a caller that was on its way."""
    called = await make("b1").listen()
    waiting = await stranger(network, called)
    if isinstance(network, TcpNetwork):
        await until(lambda: called.node._waiting)
    await called.node.close()
    waiting.wire.send([hello()])
    await waiting.until_lost()
    called.dial(called)
    assert (called.role.up, called.node._dialers, waiting.frames) == ([], {}, [])


async def test_what_a_role_said_last_still_arrives_when_its_node_is_closed(make: Make) -> None:
    called = await make("b1").listen()
    caller = make("b2").dial(called)
    await met(called, caller)
    last: list[AnyFrame] = [Deliver([n], [b"x" * 4_000_000]) for n in range(4)]
    for frame in last:
        called.role.links[0].send(frame)
    await called.node.close()
    await until(lambda: caller.role.got == last)


# What peers get wrong.


async def test_who_does_not_begin_with_hello_is_refused(network: Network, make: Make) -> None:
    called = await make("b1").listen()
    bye = await answer(await stranger(network, called, Published(1)))
    assert bye == Bye(BY_NAME["bad-link-frame"].number, "the next frame of the handshake must be Hello, not Published")
    assert called.role.up == []


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


async def test_a_defect_in_a_tick_stops_no_heartbeat(make: Make) -> None:
    called = await make("b1").listen()
    called.role.refuse, called.role.trouble = "tick", KeyError("oops")
    caller = make("b2").dial(called)
    await met(called, caller)
    ticks = called.role.ticks
    await until(lambda: called.role.ticks >= ticks + 3 * TIMING.silent_s / TIMING.heartbeat_s)
    assert (called.role.down, caller.role.down) == ([], [])
    assert called.node.loops.failures["heartbeats"] >= called.role.ticks - 1
    assert [line["loop"] for line in called.log.of("a step failed; it goes on with the next one")] == ["heartbeats"]


async def test_a_link_that_cannot_be_given_up_stops_no_heartbeat_of_the_others(network: Network, make: Make) -> None:
    called = await make("b1").listen()
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


@pytest.mark.parametrize("skew_s", [-3600.0, 3600.0])
async def test_a_peer_whose_clock_is_an_hour_off_is_linked_with_a_warning_and_nothing_else_changes(make: Make, skew_s: float) -> None:
    """Issue "a clock an hour off": no time of ours comes from a peer."""
    called = await make("b1").listen()
    right, wrong = make("b2").dial(called), make("b3", skew_s=skew_s).dial(called)
    await until(lambda: len(called.role.links) == 2)
    ticks = called.role.ticks
    await until(lambda: called.role.ticks > ticks + 2 * TIMING.silent_s / TIMING.heartbeat_s)
    assert [line["peer"] for line in called.log.of("clocks differ")] == ["b3"]
    assert called.log.of("clocks differ")[0]["skew_s"] == skew_s
    assert wrong.log.of("clocks differ")[0]["skew_s"] == -skew_s
    assert (right.log.of("clocks differ"), called.role.down, wrong.role.down) == ([], [], [])
