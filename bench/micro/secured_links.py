"""CPU of a delivery on links: in plain, and encrypted. Both ends of each link are in this process.

`python -m bench.micro.secured_links [BATCHES]` prints both, and their ratio. It is the link alone: what roles do
with an event is not in it, so the ratio of a whole delivery is less.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from infra.kernel.frames import AnyFrame, Deliver
from infra.kernel.link_handshake import node_name
from infra.runtime.event_loop import run
from infra.runtime.link_auth import LinkAuth, LinkAuthOptions
from infra.runtime.wire.tcp import TcpNetwork
from infra.runtime.wire.wire import Wire

from ..servers.link_files import link_certificate

BATCHES: Final = 2_000
BATCH: Final = 50
BODY_BYTES: Final = 300


def certified(folder: Path) -> LinkAuth:
    """Returns how links are proved by a certificate that is made in `folder`."""
    files = link_certificate(folder, [node_name("sto", "broker", "b1")])
    return LinkAuth(LinkAuthOptions(mode="tls", certificate=files.certificate, key=files.key, authority=files.authority))


async def cpu_us(auth: LinkAuth, batches: int) -> float:
    """Returns the CPU of one delivery on a link, of both ends together, in microseconds."""
    network, accepted, done = TcpNetwork(auth=auth), asyncio.Queue[Wire](), asyncio.Event()
    listener = await network.listen("127.0.0.1:0", accepted.put_nowait)
    here = await network.dial(listener.address)
    there = await accepted.get()
    here.start(lambda frames: None, lambda reason: None)
    there.start(_counter(batches, done), lambda reason: None)
    there.trust()
    frame = Deliver(list(range(BATCH)), [b"x" * BODY_BYTES] * BATCH)
    began_s = time.process_time()
    for n in range(batches):
        here.send([frame])
        if n % 20 == 0:  # as turns of a loop do
            await asyncio.sleep(0)
    await done.wait()
    spent_s = time.process_time() - began_s
    here.abort()
    there.abort()
    await listener.close()
    return spent_s * 1e6 / (batches * BATCH)


def _counter(batches: int, done: asyncio.Event) -> Callable[[list[AnyFrame]], None]:
    left = batches

    def count(frames: list[AnyFrame]) -> None:
        nonlocal left
        left -= len(frames)
        if left <= 0:
            done.set()

    return count


async def measure(batches: int) -> None:
    """Prints both figures, after a warm-up, and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        encrypted, plain = certified(Path(folder)), LinkAuth()
        for auth in (plain, encrypted):
            await cpu_us(auth, batches // 10 + 1)
        figures = [await cpu_us(auth, batches) for auth in (plain, encrypted)]
    print(f"plain {figures[0]:.2f} us, TLS {figures[1]:.2f} us a delivery: {figures[1] / figures[0]:.2f} x")


if __name__ == "__main__":
    run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else BATCHES))
