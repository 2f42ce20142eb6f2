"""A peer at the link port of each role: whatever frames it says, its link ends or goes on, and the role has no defect."""

import asyncio
import random
from typing import Any, Final

import msgspec
from structlog.testing import capture_logs

from broker.options import BrokerOptions
from infra.kernel.codec import FrameDecoder, encode
from infra.kernel.errors import Refused
from infra.kernel.frames import (
    HIGHEST_TAG,
    Announced,
    AnyFrame,
    Apart,
    Applied,
    Bereft,
    Bye,
    Call,
    Copies,
    CopiesHeld,
    Deliver,
    Fence,
    Gone,
    Heartbeat,
    Hello,
    Here,
    Inherited,
    Keeps,
    KeptEvents,
    Leaving,
    Lost,
    Moved,
    Past,
    PastTenure,
    Publish,
    Recall,
    Recalled,
    Reply,
    Resume,
    RingWish,
    Sealed,
    Strayed,
    Subscribe,
    Survey,
    TenureChange,
    Unsubscribe,
    View,
)
from infra.kernel.topics import Topic
from infra.runtime.wire.memory import MemoryNetwork
from segue.cluster.factory import RoleFactory
from segue.cluster.process import Process
from segue.cluster.role_spec import RoleOptions
from segue.cluster.shape import Shape
from tests.fuzz.on_site import OnSite
from tests.fuzz.target import outcome
from tests.support.samples import SECRET

ROLES: Final = ("accesspoint", "aggregator", "broker", "decision", "notification", "presence", "playlist", "social", "artist")
PORTS: Final = ("sto/a1", "sto/artist1", "sto/b1", "sto/n1", "sto/p1", "sto/playlist1", "sto/social1")
NO_VIEW: Final = View(0, ())
SAID: Final = (
    Heartbeat(View(3, ("b1",))),
    Subscribe(1, [0, 1], [Topic(b"Udan"), Topic(b"Pdan/p1")]),
    Unsubscribe(2, [Topic(b"Udan")]),
    Publish(1, 0, [Topic(b"Udan")], [b"id"], [b'"payload":{}}']),
    Deliver([0], [b'{"op":"event"}']),
    Call(1, "pull", "eve", "c1", b'{"op":"pull","limit":1}'),
    Call(2, "last", "eve", "c1", b'{"op":"last","topics":["hm://presence/user/bob/"]}'),
    Reply(1, "", "", b"{}"),
    Here(["eve"], ["c1"], [1]),
    Gone(["eve"], ["c1"]),
    Applied(1, {"sto": 1}),
    Fence(1),
    Survey(1),
    Leaving(),
    Bye(4000, "bye"),
)
EPOCH: Final = 1 << 48
NAMED: Final = (Topic(b"Udan"), Topic(b"Pdan/p1"))
EVENT: Final = b'{"op":"event","site":"lon","epoch":1,"seq":1,"topic":"hm://presence/user/dan/","ts":1,"id":"i","kind":"k"}'
HERE: Final = Heartbeat(View(3, ("b1", "x1")), {EPOCH: 8})
# What windows, recoveries and moves have to say to each other.
# What windows, recoveries and moves have to say: who, at which site, says it to whom, and what.
RECOVERING: Final = (
    ("sto/a1", "accesspoint", "sto", (SAID[1], Recall(1, list(NAMED), {EPOCH: 7}, [[("sto", EPOCH, 3)], []], rest=True), Fence(1))),
    ("sto/b1", "aggregator", "sto", (Resume({EPOCH: 7}, 1), SAID[1], Announced(NO_VIEW), Recall(1, list(NAMED), {EPOCH: 7}))),
    ("sto/b1", "aggregator", "sto", (SAID[1], Recall(1, list(NAMED), {}, [[("sto", EPOCH, 3)], [("lon", 1, 2)]]))),
    (
        "sto/b1",
        "broker",
        "sto",
        (HERE, Moved(list(NAMED), [(EPOCH, 3), (0, 0)], [[b"id"], []]), Sealed(View(3, ("b1", "x1"))), Apart(View(2, ("x1",)))),
    ),
    (
        "sto/b1",
        "broker",
        "sto",
        (
            HERE,
            KeptEvents(
                list(NAMED), [True, False], [1, 0], [EPOCH], [7], [EVENT], [(EPOCH, 6, False), (0, 0, False)], [(0, 0, 0), (EPOCH, 5, 2)]
            ),
            Past(4, 1, [PastTenure(EPOCH, "x1", 9, 1, {"user": 2}, [TenureChange(View(3, ("x1",)), View(4, ("b1", "x1")), 3, {"b1": 1})])]),
            Sealed(View(4, ("b1", "x1"))),
            Strayed([EVENT, b"{}"]),
        ),
    ),
    (
        "sto/b1",
        "broker",
        "sto",
        (
            Heartbeat(View(3, ("b1", "x1"))),
            Copies(EPOCH, 1, [Moved([NAMED[1]], [(EPOCH, 3)], [[b"id"]])], anew=True),
            Copies(EPOCH, 2, [KeptEvents([NAMED[1]], [True], [1], [EPOCH], [2], [EVENT], [(0, 0, False)], [(0, 0, 0)])]),
            Copies(EPOCH, 2, [Past(3, 0, [PastTenure(EPOCH, "x1", 9, 1, {}, [])])]),
            Heartbeat(View(4, ("b1",))),
        ),
    ),
    ("sto/b1", "broker", "sto", (HERE, RingWish(1, {"b1": 0}, {"b1": 256}), RingWish(2), RingWish(2, {}, {}), Reply(1, "", "", b""))),
    ("sto/b1", "broker", "sto", (HERE, CopiesHeld(EPOCH, 1 << 61), CopiesHeld(0, 0), Copies(0, 0, []))),
    ("sto/b1", "aggregator", "sto", (SAID[1], Bereft(View(4, ("b1",)), "x1", {EPOCH: 7}), Announced(View(4, ("b1",))))),
    ("sto/b1", "broker", "lon", (HERE, Inherited("x1", ["playlist"]), Bereft(View(4, ("x1",)), "b1", {}), Announced(View(4, ("x1",))))),
    ("sto/b1", "broker", "lon", (HERE, Resume({EPOCH: 7}, 1), SAID[1], Announced(View(3, ("x1",))), Deliver([0], [EVENT], {EPOCH: 9}))),
    ("sto/b1", "broker", "lon", (HERE, Keeps({"user": ("latest", 9.0)}), Recalled(1, list(NAMED), ["", "late"], [1, 0], [EVENT]))),
    ("sto/b1", "broker", "lon", (HERE, Lost(list(NAMED), "owner-lost"), Sealed(View(4, ("x1",))))),
)


def _with_peers(options: RoleOptions) -> RoleOptions:
    """Returns `options` in which brokers know of one more at their site and of one at another, which is who the inputs say they are."""
    if not isinstance(options, BrokerOptions):
        return options
    return msgspec.structs.replace(options, sites={"sto": options.sites["sto"] | {"x1": "sto/x1"}, "lon": {"x1": "lon/x1"}})


def _input(port: str, role: str, *frames: Any, site: str = "sto") -> bytes:
    hello = Hello(role, "x1", site, 1, 1_700_000_000_000, NO_VIEW, tags=HIGHEST_TAG)
    return port.encode() + b"\n" + b"".join(encode(frame) for frame in (hello, *frames))


class LinkPeers(OnSite):
    """A site in memory. An input is a line with the name of a node, and what a peer says at its link port."""

    seeds = (
        *(_input(port, role, *SAID[number % 5 :: 5]) for number, port in enumerate(PORTS) for role in ROLES),
        *(_input(port, role, *said, site=site) for port, role, site, said in RECOVERING),
    )
    words = (
        *map(encode, (*SAID, *(frame for _, _, _, said in RECOVERING for frame in said))),
        b"\x91",
        b"\xc4\x00",
        b"\xce\xff\xff\xff\xff",
        b"\xcf\x3f",
        b"Udan",
        b"Idan",
        b"-",
    )

    async def _start(self, shape: Shape) -> None:
        self._defects: list[str] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: self._defects.append(str(context)))
        factory = RoleFactory.local(SECRET, random.Random(1))
        process = await self._stack.enter_async_context(Process(factory, map(_with_peers, shape.options())))
        await process.settled()
        assert isinstance(factory.network, MemoryNetwork)
        self._network = factory.network
        assert set(PORTS) == self._network.doors.keys()

    def play(self, data: bytes) -> str:
        """Says the frames in `data`, as far as they are frames. Nothing raises, and nothing is logged as a defect."""
        name, _, said = data.partition(b"\n")
        port, frames = name.decode(errors="replace"), _frames(said)
        if port not in PORTS:
            return "no such port"
        with capture_logs() as logs:
            heard, reason = self._runner.run(self._say(port, frames))
        defects = [entry for entry in logs if entry["log_level"] in ("error", "critical")]
        assert not defects, defects
        assert not self._defects, self._defects
        return outcome(port, sorted({type(frame).__name__ for frame in heard}), reason)

    async def _say(self, port: str, frames: list[AnyFrame]) -> tuple[list[AnyFrame], str]:
        """Returns what was heard, and why the link ended, "" where it did not."""
        heard: list[AnyFrame] = []
        reasons: list[str] = []
        wire = await self._network.dial(port)
        wire.start(heard.extend, reasons.append)
        for frame in frames:
            wire.send([frame])
        for _ in range(8):
            await asyncio.sleep(0)
        came = reasons[:1]
        wire.abort()
        for _ in range(4):
            await asyncio.sleep(0)
        goodbyes = [f"bye {frame.reason}" for frame in heard if isinstance(frame, Bye)]
        return heard, " ".join(goodbyes + came)


def _frames(data: bytes) -> list[AnyFrame]:
    """Returns the frames at the beginning of `data`."""
    decoder, found = FrameDecoder(), list[AnyFrame]()
    try:
        for start in range(len(data)):
            found += decoder.feed(data[start : start + 1])
    except Refused:
        pass
    return found
