"""Peers on internal links that send what is wrong: their link ends with a code and a reason in the log, and no other one."""

import asyncio
import random
import time
from collections.abc import AsyncIterator

import msgspec
import pytest
from structlog.testing import capture_logs

from infra.kernel.codec import FrameDecoder, encode
from infra.kernel.codes import BY_NAME
from infra.kernel.frames import PROTOCOL, Bye, Deliver, Frame, Heartbeat, Hello, Leaving, Publish, Resume, Subscribe, Survey, View
from infra.kernel.topics import Topic
from infra.runtime.listening import CannotListen
from segue.cluster.factory import RoleFactory
from tests.support.assignments import assignment
from tests.support.bystander import Watched

DEADLINE_S = 30.0
NO_VIEW = View(0, ())


def hello(role: str = "accesspoint", node: str = "x1", site: str = "sto", version: int = PROTOCOL) -> bytes:
    """Returns the first frame of a peer `role` that may be there or not, named `node`, of `site`."""
    return encode(Hello(role, node, site, 1, int(time.time() * 1000), NO_VIEW, version))


def said(frame: Frame) -> bytes:
    return encode(frame)


GARBAGE = {
    "HTTP": (b"GET / HTTP/1.1\r\nHost: a1\r\n\r\n", "bad-link-frame"),
    "TLS": (b"\x16\x03\x01\x02\x00" + bytes(200), "bad-link-frame"),
    "a length of four gigabytes": (b"\xff\xff\xff\xff", "bad-link-frame"),
    "a frame that is no MessagePack": (b"\x00\x00\x00\x05\xc1\xc1\xc1\xc1\xc1", "bad-link-frame"),
    "a frame that nobody knows": (b"\x00\x00\x00\x02\x91\x63", "bad-link-frame"),
    "no hello": (said(Heartbeat(NO_VIEW)), "bad-link-frame"),
    "another version": (hello(version=99), "version-mismatch"),
    "a role that has no business here": (hello(role="stranger"), "wrong-peer"),
    "a node of another site": (hello(site="mars"), "wrong-peer"),
    "hello, then garbage": (hello() + b"\xff" * 64, "bad-link-frame"),
    "hello twice": (hello() + hello(), "bad-link-frame"),
    "an event from the wrong side": (hello() + said(Deliver([0], [b"{}"])), "bad-link-frame"),
    "a goodbye to a ring that it is not in": (hello() + said(Leaving()), "bad-link-frame"),
    "a topic that is none": (hello() + said(Subscribe(1, [0], [b"X?"])), "bad-link-frame"),
    "an assignment from one who decides nothing": (hello() + said(assignment(1, Topic(b"Udan"))), "bad-link-frame"),
    "a survey from one who decides nothing": (hello() + said(Survey(1)), "bad-link-frame"),
    "more handles than topics": (hello() + said(Subscribe(1, [0, 1], [Topic(b"Udan")])), "bad-link-frame"),
}
TO_A_BROKER = {
    "a service that publishes another's topics": (
        hello(role="presence") + said(Publish(1, 0, [b"Adan%new-album"], [b""], [b'"payload":{}}'])),
        "forbidden",
    ),
    "stamps from one who wants nothing": (hello(role="presence") + said(Resume({1: 1})), "bad-link-frame"),
    "stamps that come late": (
        hello(role="aggregator") + said(Subscribe(1, [0], [Topic(b"Udan")])) + said(Resume({1: 1})),
        "bad-link-frame",
    ),
    "a broker that is not configured": (hello(role="broker", node="b77"), "wrong-peer"),
    "a service that decides what is served": (hello(role="presence") + said(assignment(1, Topic(b"Udan"))), "bad-link-frame"),
    "a decision service that publishes": (
        hello(role="decision") + said(Publish(1, 0, [b"Udan"], [b""], [b'"payload":{}}'])),
        "bad-link-frame",
    ),
    "a decision service that builds on what was never said": (
        hello(role="decision", site="mars") + said(assignment(8, Topic(b"Udan"), base=7)),
        "bad-link-frame",
    ),
    "an assignment about a topic that is none": (hello(role="decision") + said(assignment(1, Topic(b"X?"))), "bad-link-frame"),
    "an aggregator that leaves the ring in the name of a broker": (hello(role="aggregator", node="b1") + said(Leaving()), "bad-link-frame"),
    "an access point, which belongs to an aggregator": (hello(role="accesspoint"), "wrong-peer"),
}


@pytest.fixture
async def place() -> AsyncIterator[Watched]:
    """Yields a site whose links are real TCP."""
    async with Watched(tcp=True) as place:
        yield place


async def answered(address: str, data: bytes) -> Bye:
    """Sends `data` as a peer and reads to the end; returns the goodbye that came last."""
    host, _, port = address.rpartition(":")
    async with asyncio.timeout(DEADLINE_S):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(data)
        frames = FrameDecoder().feed(await reader.read())
        writer.close()
        await writer.wait_closed()
    assert isinstance(frames[-1], Bye), frames
    return frames[-1]


@pytest.mark.parametrize("name", GARBAGE)
async def test_a_peer_that_sends_garbage_loses_its_link_and_nobody_else_does(name: str, place: Watched) -> None:
    data, code = GARBAGE[name]
    aggregator = place.cluster.of("aggregator")[0]
    links = set(aggregator.links.links)
    with capture_logs() as lines:
        bye = await answered(aggregator.address, data)
        assert (bye.number, bool(bye.reason)) == (BY_NAME[code].number, True)
        assert code != "wrong-peer" or "correct the address in the configuration of" in bye.reason
        await place.undisturbed()
        await place.cluster.until(lambda: any(code in (line.get("code"), line.get("reason", "").partition(":")[0]) for line in lines))
    assert aggregator.links.links == links


@pytest.mark.parametrize("name", TO_A_BROKER)
async def test_a_peer_that_asks_too_much_of_a_broker_loses_its_link_and_nobody_else_does(name: str, place: Watched) -> None:
    """SB-45 for services on a link."""
    data, code = TO_A_BROKER[name]
    node = place.door.links
    links = set(node.links)
    bye = await answered(node._listeners[0].address, data)
    assert (bye.number, bool(bye.reason)) == (BY_NAME[code].number, True)
    await place.undisturbed()
    assert node.links == links


@pytest.mark.parametrize("name", ["sto/ap1", "sto/a1", "sto/p1"])
async def test_a_second_process_under_a_name_that_lives_is_turned_away_and_the_first_goes_on(name: str, place: Watched) -> None:
    cluster = place.cluster
    factory = RoleFactory(cluster.network("sto/double"), cluster._verifier, random.Random(2))
    options = cluster.options[name]
    if hasattr(options, "listen"):
        options = msgspec.structs.replace(options, listen="sto/double")
    with capture_logs() as lines:
        double = factory.make(options)
        await double.start()
        await cluster.until(lambda: any(line.get("code") == "duplicate-node" for line in lines))
        await place.undisturbed()
        assert double.ready() is not None
        await double.close()
    (reason,) = {line["reason"] for line in lines if line.get("code") == "duplicate-node"}
    assert "give each process its own name" in reason
    assert {line["event"] for line in lines if line.get("node") == options.node and line["log_level"] != "info"} <= {"link refused"}


async def test_a_second_broker_under_a_slot_that_lives_cannot_listen(place: Watched) -> None:
    cluster = place.cluster
    double = RoleFactory(cluster.network("sto/double"), cluster._verifier, random.Random(2)).make(cluster.options["sto/b1"])
    with pytest.raises(CannotListen, match=r"broker\.listen: cannot listen on sto/b1 .*taken"):
        await double.start()
    await place.undisturbed()
    await double.close()
