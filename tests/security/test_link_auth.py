"""Strangers at link ports: forged, replayed and swapped hellos, other sites, downgrades, and crowds (DPS-24)."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infra.kernel.codec import MAX_HELLO_BYTES, FrameDecoder, encode
from infra.kernel.codes import BY_NAME
from infra.kernel.errors import ConfigError, Refused
from infra.kernel.frames import Announced, AnyFrame, Bye, Call, Deliver, Heartbeat, Hello, Proof, Publish, Subscribe, View
from infra.kernel.link_handshake import NONCE_BYTES, LinkSide, link_mac
from infra.kernel.link_timing import LinkTiming
from infra.runtime.context import Context
from infra.runtime.link import Link
from infra.runtime.link_auth import LinkAuth, LinkAuthOptions, StrangerLimits
from infra.runtime.link_handlers import LinkHandler, ToRole
from infra.runtime.node import Node
from infra.runtime.wire.tcp import TcpNetwork
from tests.support.cluster import Cluster
from tests.support.recording_log import RecordingLog

TIMING = LinkTiming(heartbeat_s=0.05, silent_s=10.0, hello_s=5.0, redial_base_s=0.001, redial_cap_s=0.01)
DEADLINE_S = 20.0
NO_VIEW = View(0, ())
SECRET, OTHER = b"0123456789abcdef" * 4, b"fedcba9876543210" * 4
HELLO = Hello("aggregator", "a1", "sto", 7, 0, NO_VIEW)


class Guarded:
    """A node of any role with proofs of its own, which notes who is linked and what they say."""

    def __init__(self, role: str, name: str, auth: LinkAuth, site: str = "sto") -> None:
        self.log = RecordingLog()
        self.up: list[Link] = []
        self.got: list[AnyFrame] = []
        self.address = ""
        context = Context(network=TcpNetwork(auth=auth), log=self.log, rng=random.Random(name), link_auth=auth)
        self.node = Node((role, name, site), context, self, timing=TIMING)

    def view(self) -> View:
        return View(5, ("b1",))

    def admit(self, hello: Hello) -> None:
        """Admits everybody."""

    def link_up(self, link: Link) -> LinkHandler:
        self.up.append(link)
        return ToRole(self, link)

    def link_down(self, link: Link, reason: str) -> None:
        self.up.remove(link)

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        self.got += [frame for frame in frames if not isinstance(frame, Heartbeat)]

    def tick(self, now: float) -> None:
        """Does nothing."""

    def reasons(self) -> list[str]:
        """Returns why nobody could be reached, and who was turned away."""
        return [str(line["reason"]) for what in ("peer unreachable", "link refused") for line in self.log.of(what)]


Make = Callable[..., Any]


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    everyone: list[Guarded] = []

    async def make(role: str, name: str, auth: LinkAuth, site: str = "sto", *, listens: bool = True) -> Guarded:
        everyone.append(Guarded(role, name, auth, site))
        if listens:
            everyone[-1].address = await everyone[-1].node.listen("127.0.0.1:0")
        return everyone[-1]

    yield make
    # Whoever calls is closed first: asyncio leaves the socket open of a caller whom it accepts in the turn in which the server closes.
    for each in reversed(everyone):
        await each.node.close()


async def until(condition: Callable[[], object]) -> None:
    deadline_s = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline_s, "condition not met"
        await asyncio.sleep(0)


def by_secret(folder: Path, *secrets: bytes, **options: Any) -> LinkAuth:
    files = []
    for each in secrets:
        files.append(folder / f"{each[:8].decode()}.key")
        files[-1].write_bytes(each)
        files[-1].chmod(0o600)
    return LinkAuth(LinkAuthOptions(mode="secret", secret_files=tuple(files), **options))


class Stranger:
    """Somebody with a socket, who says what they like."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self._decoder = FrameDecoder()
        self._waiting: list[AnyFrame] = []

    @classmethod
    async def at(cls, address: str) -> "Stranger":
        host, _, port = address.rpartition(":")
        return cls(*await asyncio.open_connection(host, int(port)))

    def say(self, *frames: AnyFrame) -> "Stranger":
        self.writer.write(b"".join(map(encode, frames)))
        return self

    async def hear(self) -> AnyFrame | None:
        """Returns the next frame; None at the end."""
        async with asyncio.timeout(DEADLINE_S):
            while not self._waiting:
                data = await self.reader.read(1 << 16)
                if not data:
                    return None
                self._waiting = self._decoder.feed(data)
        return self._waiting.pop(0)

    async def goodbye(self) -> str:
        """Returns the name of the code with which they are sent away."""
        while not isinstance(heard := await self.hear(), Bye):
            assert heard is not None, "no goodbye"
        self.writer.close()
        return next(name for name, code in BY_NAME.items() if code.number == heard.number)


# By a secret.


async def test_nodes_with_one_secret_are_linked_and_talk(make: Make, tmp_path: Path) -> None:
    auth = by_secret(tmp_path, SECRET)
    broker, aggregator = await make("broker", "b1", auth), await make("aggregator", "a1", auth)
    aggregator.node.dial(broker.address, "broker", "sto")
    await until(lambda: broker.up and aggregator.up)
    aggregator.up[0].send(Subscribe(1, [], []))
    broker.up[0].send(Deliver([1], [b"{}"]))
    await until(lambda: broker.got and aggregator.got)
    assert (broker.got, aggregator.got) == ([Subscribe(1, [], [])], [Deliver([1], [b"{}"])])


@pytest.mark.parametrize("callers", [b"", OTHER])
async def test_who_has_no_secret_or_another_one_is_not_linked_and_both_logs_say_why(make: Make, tmp_path: Path, callers: bytes) -> None:
    """DPS-24: a downgrade is not taken from either side."""
    broker = await make("broker", "b1", by_secret(tmp_path, SECRET))
    caller = await make("aggregator", "a1", by_secret(tmp_path, callers) if callers else LinkAuth(), listens=False)
    caller.node.dial(broker.address, "broker", "sto")
    await until(lambda: caller.reasons() and broker.reasons())
    assert all("secret" in reason for reason in (*caller.reasons(), *broker.reasons()))
    assert (broker.up, caller.up) == ([], [])


async def test_a_caller_with_a_secret_does_not_talk_to_one_without(make: Make, tmp_path: Path) -> None:
    """DPS-24: a dialler checks whom it has reached: one that listens at our broker's address gets nothing from us."""
    broker = await make("broker", "b1", LinkAuth())
    caller = await make("aggregator", "a1", by_secret(tmp_path, SECRET), listens=False)
    caller.node.dial(broker.address, "broker", "sto")
    await until(caller.reasons)
    assert "offers no proof" in caller.reasons()[0]
    assert caller.up == []


async def test_a_stranger_is_told_to_prove_it_and_moves_nobody(make: Make, tmp_path: Path) -> None:
    """DPS-24: the hello of a node that is linked, incarnation and all, does not cut its link before it is proved."""
    auth = by_secret(tmp_path, SECRET)
    broker, aggregator = await make("broker", "b1", auth), await make("aggregator", "a1", auth, listens=False)
    aggregator.node.dial(broker.address, "broker", "sto")
    await until(lambda: broker.up)
    (link,) = broker.up
    stolen = Hello("aggregator", "a1", "sto", link.peer.incarnation, 0, View(1 << 61, ("b1",)), nonce=link.peer.nonce)
    assert await (await Stranger.at(broker.address)).say(HELLO).goodbye() == "link-not-proved"
    assert await (await Stranger.at(broker.address)).say(stolen, Proof(bytes(32))).goodbye() == "link-not-proved"
    assert await (await Stranger.at(broker.address)).say(stolen, Subscribe(1, [], [])).goodbye() == "bad-link-frame"
    assert broker.up == [link]


async def test_a_proof_that_was_overheard_opens_no_second_link(make: Make, tmp_path: Path) -> None:
    """DPS-24: no replay."""
    broker = await make("broker", "b1", by_secret(tmp_path, SECRET))
    mine = Hello("aggregator", "a1", "sto", 7, 0, NO_VIEW, nonce=b"n" * NONCE_BYTES)
    honest = (await Stranger.at(broker.address)).say(mine)
    theirs = await honest.hear()
    assert isinstance(theirs, Hello)
    proof = Proof(link_mac(SECRET, LinkSide.CALLER, mine, theirs))
    honest.say(proof)
    await until(lambda: broker.up)
    assert isinstance(await honest.hear(), Proof)
    assert await (await Stranger.at(broker.address)).say(mine, proof).goodbye() == "link-not-proved"
    honest.writer.close()


async def test_who_is_proved_as_one_role_does_not_speak_as_another(make: Make, tmp_path: Path) -> None:
    """DPS-24: what a role may say follows from what it has proved. The link ends with the reason, and nothing reaches the role."""
    auth = by_secret(tmp_path, SECRET)
    broker, presence = await make("broker", "b1", auth), await make("presence", "p1", auth, listens=False)
    presence.node.dial(broker.address, "broker", "sto")
    await until(lambda: presence.up)
    topic = b"Ibob"
    for frame, why in ((Publish(1, 0, [topic], [b""], [b"{}"]), "forbidden"), (Subscribe(1, [], []), "bad-link-frame")):
        await until(lambda: presence.up and broker.up)
        presence.up[0].send(frame)
        await until(lambda why=why: [line for line in broker.log.of("link broken") if line["code"] == why])  # type: ignore[misc]
    assert broker.got == []


async def test_a_service_may_not_ask_for_users(make: Make, tmp_path: Path) -> None:
    """An attack: at the port of the notification module, another user's inbox was read and marked."""
    auth = by_secret(tmp_path, SECRET)
    module, presence = await make("notification", "n1", auth), await make("presence", "p1", auth, listens=False)
    presence.node.dial(module.address, "notification", "sto")
    await until(lambda: any("nothing to say to a notification" in reason for reason in presence.reasons() + module.reasons()))
    assert module.got == []
    social, playlist = await make("social", "s1", auth), await make("playlist", "l1", auth, listens=False)
    playlist.node.dial(social.address, "social", "sto")
    await until(lambda: playlist.up)
    playlist.up[0].send(Call(1, "bob", "", "private", b"{}"))
    await until(lambda: social.log.of("link broken"))
    assert social.got == []


async def test_the_view_in_a_link_is_that_of_the_moment_it_comes_up(make: Make, tmp_path: Path) -> None:
    """A view that was said in the hello may be old when the proof comes; on each link the view comes first."""
    broker = await make("broker", "b1", by_secret(tmp_path, SECRET))
    mine = Hello("aggregator", "a1", "sto", 7, 0, NO_VIEW, nonce=b"n" * NONCE_BYTES)
    peer = (await Stranger.at(broker.address)).say(mine)
    theirs = await peer.hear()
    assert isinstance(theirs, Hello)
    peer.say(Proof(link_mac(SECRET, LinkSide.CALLER, mine, theirs)))
    assert isinstance(await peer.hear(), Proof)
    assert await peer.hear() == Heartbeat(View(5, ("b1",)))
    peer.writer.close()


# Crowds.


async def test_before_its_hello_nobody_sends_a_large_frame(make: Make) -> None:
    """An attack: 20 strangers at a link port held 141 MB."""
    broker = await make("broker", "b1", LinkAuth())
    stranger = await Stranger.at(broker.address)
    stranger.writer.write((MAX_HELLO_BYTES + 1).to_bytes(4, "big"))
    assert await stranger.goodbye() == "bad-link-frame"
    assert f"over the limit of {MAX_HELLO_BYTES}" in broker.log.of("peer left before its hello")[0]["reason"]


async def test_after_its_hello_a_peer_may_send_a_large_one(make: Make) -> None:
    broker = await make("broker", "b1", LinkAuth())
    peer = (await Stranger.at(broker.address)).say(HELLO)
    await peer.hear()
    topics = [b"Uann"] * (MAX_HELLO_BYTES // 4)
    peer.say(Subscribe(1, [0] * len(topics), topics))
    await until(lambda: broker.got)
    peer.writer.close()


async def test_so_many_may_wait_at_a_listener_and_those_who_are_linked_go_on(make: Make) -> None:
    """The bound counts those who have not shown who they are; when they leave there is room again."""
    auth = LinkAuth(LinkAuthOptions(mode="open", max_unfinished=3, visitors=StrangerLimits(per_address=3)))
    broker = await make("broker", "b1", auth)
    linked = (await Stranger.at(broker.address)).say(HELLO)
    await linked.hear()
    mute = [await Stranger.at(broker.address) for _ in range(3)]
    one_more = (await Stranger.at(broker.address)).say(HELLO)
    assert await one_more.goodbye() == "overloaded"
    one_more.writer.close()
    linked.say(Subscribe(1, [], []))
    await until(lambda: broker.got)
    mute[0].writer.close()
    await until(lambda: broker.log.of("peer left before its hello"))
    again = (await Stranger.at(broker.address)).say(Hello("aggregator", "a2", "sto", 8, 0, NO_VIEW))
    assert isinstance(await again.hear(), Hello)
    for each in (*mute[1:], again, linked):
        each.writer.close()


# Fuzzing.

NAMES = st.from_regex(r"[A-Za-z0-9._-]{1,12}", fullmatch=True)
HELLOS = st.builds(
    Hello,
    role=st.sampled_from(["broker", "aggregator", "presence", "x"]) | NAMES,
    node=NAMES,
    site=st.sampled_from(["sto", "lon"]),
    incarnation=st.integers(0, (1 << 62) - 1),
    time_ms=st.integers(0, (1 << 62) - 1),
    view=st.builds(View, st.integers(0, (1 << 62) - 1), st.tuples(NAMES)),
    version=st.integers(0, 2),
    nonce=st.binary(max_size=64),
)
SAID: st.SearchStrategy[Any] = st.one_of(HELLOS, st.builds(Proof, st.binary(max_size=64)), st.just(Heartbeat(NO_VIEW)))


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(portions=st.lists(SAID.map(encode) | st.binary(max_size=64), min_size=1, max_size=4))
def test_no_sequence_of_frames_and_garbage_gets_in_without_the_secret(tmp_path: Path, portions: list[bytes]) -> None:
    """DPS-24: a stranger is sent away or waits, and an honest node is linked all the same."""

    async def scenario() -> None:
        auth = by_secret(tmp_path, SECRET)
        broker, honest = Guarded("broker", "b1", auth), Guarded("aggregator", "a1", auth)
        address = await broker.node.listen("127.0.0.1:0")
        stranger = await Stranger.at(address)
        for portion in portions:
            stranger.writer.write(portion)
        honest.node.dial(address, "broker", "sto")
        await until(lambda: broker.up)
        assert [link.peer.incarnation for link in broker.up] == [honest.node.incarnation]
        stranger.writer.close()
        await honest.node.close()
        await broker.node.close()

    asyncio.run(scenario())


# Addresses.


@pytest.mark.parametrize("address", ["0.0.0.0:0", "10.0.0.1:7811", "b1.example:7811", "[::]:0"])
async def test_addresses_that_others_can_reach_need_a_mode(make: Make, address: str) -> None:
    """DPS-24: whoever does not say how links are proved gets them on loopback only."""
    node = await make("broker", "b1", LinkAuth(LinkAuthOptions()), listens=False)
    for act in (node.node.listen, lambda address: asyncio.sleep(0, node.node.dial(address, "broker", "sto"))):
        with pytest.raises(ConfigError, match=r"link_auth.* says no mode.*segue certs"):
            await act(address)


async def test_a_secret_is_changed_while_links_stand(make: Make, tmp_path: Path) -> None:
    """DPS-24: new links use the new secret after a reload, and those that stand are not touched."""
    path = tmp_path / "0.key"
    path.write_bytes(SECRET)
    path.chmod(0o600)
    auth = LinkAuth(LinkAuthOptions(mode="secret", secret_files=(path,)))
    broker, before = await make("broker", "b1", auth), await make("aggregator", "a1", by_secret(tmp_path, SECRET), listens=False)
    before.node.dial(broker.address, "broker", "sto")
    await until(lambda: broker.up)
    path.write_bytes(OTHER)
    auth.reload()
    after = await make("aggregator", "a2", by_secret(tmp_path, OTHER), listens=False)
    after.node.dial(broker.address, "broker", "sto")
    await until(lambda: len(broker.up) == 2)
    assert [link.peer.node for link in broker.up] == ["a1", "a2"]
    path.write_bytes(b"short")
    with pytest.raises(ConfigError):
        auth.reload()
    assert auth.credentials(is_local=False).secrets == (OTHER,)


def test_refusals_are_refusals() -> None:
    assert Refused("link-not-proved").code.fatal


async def test_a_view_that_no_broker_can_have_issued_stops_nothing() -> None:
    """An attack: one hello of an "aggregator" with the view [2^62-1, ["b1"]] stopped all events until a broker was restarted."""
    async with Cluster(sites=1, brokers=2, tcp=True) as c, c.user("ann") as ann:
        await ann.follow("dan")
        for view in (View((1 << 62) - 1, ("b1",)), View(c.of("broker")[0].view().number + 5, ("b1", "b9"))):
            address = c.addresses["sto/b1"]
            liar = (await Stranger.at(address)).say(Hello("aggregator", "a7", "sto", 7, 0, view))
            assert isinstance(await liar.hear(), Hello)
            assert {broker.view().slots for broker in c.of("broker")} == {("b1", "b2")}
            liar.say(Announced(view), Heartbeat(view))
            await c.play("dan")
            liar.writer.close()
        await ann.heard(2)
