"""A peer: py-libp2p's GossipSub v1.1, with all nodes in one process that talk over loopback.

`python bench/libp2p_nodes.py NODES DIALS EVENTS` needs the package libp2p. It is no part of Segue. It prints a line of JSON: how many
`deliveries` of the events to other nodes were made, how many were `wanted`, and the `seconds` of processor time from the first event on
until all was delivered, or nothing came for ten seconds.
"""

import json
import os
import random
import sys
import time
from collections.abc import Sequence

import trio  # type: ignore[import-not-found]  # only whoever measures this peer has these
from libp2p import new_host  # type: ignore[import-not-found]
from libp2p.peer.peerinfo import PeerInfo  # type: ignore[import-not-found]
from libp2p.pubsub.gossipsub import PROTOCOL_ID_V11, GossipSub  # type: ignore[import-not-found]
from libp2p.pubsub.pubsub import Pubsub  # type: ignore[import-not-found]
from libp2p.tools.anyio_service import background_trio_service  # type: ignore[import-not-found]
from multiaddr import Multiaddr  # type: ignore[import-not-found]

HERE = Multiaddr("/ip4/127.0.0.1/tcp/0")
TOPIC = "events"
PAYLOAD = b"x" * 200
EVERY_S = 0.2
NEGOTIATION_S, MESH_S, SILENT_S = 60, 120.0, 10.0


class LibP2pNode:
    """A node that counts what it is delivered."""

    def __init__(self) -> None:
        self.host = new_host(listen_addrs=[HERE], negotiate_timeout=NEGOTIATION_S)
        # All nodes have one address here, which guards against eclipses and floods would hold against them.
        self.router = GossipSub(
            protocols=[PROTOCOL_ID_V11],
            degree=6,
            degree_low=4,
            degree_high=12,
            heartbeat_interval=1,
            spam_protection_enabled=False,
            eclipse_protection_enabled=False,
        )
        self.pubsub = Pubsub(self.host, self.router)
        self.delivered, self.is_up = 0, trio.Event()

    async def run(self) -> None:
        """Subscribes, and counts what comes from others, for ever."""
        async with self.host.run(listen_addrs=[HERE]), background_trio_service(self.pubsub), background_trio_service(self.router):
            await self.pubsub.wait_until_ready()
            subscription = await self.pubsub.subscribe(TOPIC)
            self.is_up.set()
            while True:
                event = await subscription.get()
                self.delivered += event.from_id != self.host.get_id().to_bytes()

    async def dial(self, others: Sequence["LibP2pNode"]) -> None:
        """Connects to other nodes, one after the other."""
        for other in others:
            await self.host.connect(PeerInfo(other.host.get_id(), other.host.get_addrs()))

    @property
    def has_mesh(self) -> bool:
        """Whether it has peers enough in its mesh."""
        return bool(len(self.router.mesh.get(TOPIC, ())) >= self.router.degree_low)


async def measure(count: int, dials: int, events: int) -> None:
    """Prints what came of the events, and ends the process: nodes have no other end."""
    draws, nodes = random.Random(1), [LibP2pNode() for _ in range(count)]
    async with trio.open_nursery() as nursery:
        for node in nodes:
            nursery.start_soon(node.run)
            await node.is_up.wait()
        async with trio.open_nursery() as dialing:  # most of a connection is waiting, so all nodes dial at once
            for at, node in enumerate(nodes):
                dialing.start_soon(node.dial, draws.sample([*nodes[:at], *nodes[at + 1 :]], min(dials, count - 1)))
        with trio.fail_after(MESH_S):
            while not all(node.has_mesh for node in nodes):  # noqa: ASYNC110  # py-libp2p does not tell when a mesh grows
                await trio.sleep(0.1)
        began_s = time.process_time()
        for number in range(events):
            await nodes[number % count].pubsub.publish(TOPIC, PAYLOAD + b"%d" % number)
            await trio.sleep(EVERY_S)
        wanted, before = events * (count - 1), -1
        while before < (now := sum(node.delivered for node in nodes)) < wanted:
            before = now
            with trio.move_on_after(SILENT_S):
                while sum(node.delivered for node in nodes) < wanted:  # noqa: ASYNC110  # an event would be set by each delivery
                    await trio.sleep(0.05)
        seconds = time.process_time() - began_s
        found = {"deliveries": sum(node.delivered for node in nodes), "wanted": wanted, "seconds": seconds}
        print(json.dumps(found), flush=True)
        os._exit(0)


if __name__ == "__main__":
    trio.run(measure, *map(int, sys.argv[1:]))
