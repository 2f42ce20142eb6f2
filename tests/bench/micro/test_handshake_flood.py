"""bench.micro.handshake_flood: it is refused as an attacker is, goes on, and ends when it is told."""

import asyncio
from collections import Counter

from bench.micro.flooder import HANDSHAKE, SOURCE
from bench.micro.handshake_flood import OPEN, HandshakeFlood
from infra.kernel.places import VisitorLimits
from infra.runtime.door_opener import DoorOpener
from infra.runtime.http.door import HttpDoor, HttpLimits
from infra.runtime.loops import Loops
from segue.demo.until import until
from tests.support.recording_log import RecordingLog

DEADLINE_S = 30.0


async def test_handshakes_are_made_and_refused_without_end_until_it_is_told() -> None:
    """DPS-26: the first few get an answer to what they ask, the others the door's refusal, each on a connection of its own."""
    loops, done = Loops(RecordingLog()), Counter[str]()
    door = HttpDoor({}, {}, HttpLimits(visitors=VisitorLimits(new_per_address_per_s=0.001)), loops=loops)
    server = await DoorOpener().open("door", "127.0.0.1:0", door.entrance)
    flood = HandshakeFlood(f"127.0.0.1:{server.sockets[0].getsockname()[1]}", HANDSHAKE, SOURCE, done)
    flooding = asyncio.create_task(asyncio.to_thread(flood.run))
    assert await until(lambda: done["503"] >= 5 * OPEN, DEADLINE_S)
    flood.stop()
    await flooding
    assert done["404"] == 1
    assert door.places.refused.keys() == {"address_rate"}
    assert door.places.refused["address_rate"] >= done["503"]
    server.close()
    door.close()
    await loops.close()


async def test_a_door_that_is_gone_is_counted_and_stops_nothing() -> None:
    server = await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", 0)
    address = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()
    done = Counter[str]()
    flood = HandshakeFlood(address, HANDSHAKE, SOURCE, done)
    flooding = asyncio.create_task(asyncio.to_thread(flood.run))
    assert await until(lambda: done["cut"] >= OPEN, DEADLINE_S)
    flood.stop()
    await flooding
    assert done.keys() == {"cut"}
