"""A proxy on loopback between the link ports of real processes. Links through it are cut without a word: bytes wait, as they would on a
wire. It does not know what the bytes are, so links may be encrypted."""

import asyncio
from typing import Final, Self

from infra.runtime.ending import end_tasks

from .cuts import Cuts

HOST: Final = "127.0.0.1"
# So much of one direction of a connection is in memory here; of more the kernel keeps its buffers full, and the sender has to wait.
CHUNK_BYTES: Final = 64 << 10
_Way = tuple[str, str]


class LinkProxy:
    """The ways of all nodes to each other: `async with LinkProxy() as proxy:`.

    A connection that is begun during a cut is accepted and hears nothing. Of these one waits for each way: who calls again has given the
    one before up.
    """

    def __init__(self) -> None:
        self._cuts, self._healed = Cuts(), asyncio.Event()
        self._doors: dict[_Way, asyncio.Server] = {}
        self._waiting: dict[_Way, asyncio.StreamWriter] = {}
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for door in self._doors.values():
            door.close()
        await end_tasks(*self._connections)

    async def way(self, source: str, target: str, address: str) -> str:
        """Returns the address at which `source` reaches `target`, which listens at `address`. Raises OSError."""
        way = (source, target)
        if way not in self._doors:

            def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                task = asyncio.create_task(self._connect(way, address, reader, writer))
                self._connections.add(task)
                task.add_done_callback(self._connections.discard)

            self._doors[way] = await asyncio.start_server(connected, HOST, 0, limit=CHUNK_BYTES)
        return "{}:{}".format(*self._doors[way].sockets[0].getsockname()[:2])

    def cut(self, one: str, other: str) -> None:
        """Keeps two nodes, or two sites, from reaching each other."""
        self._cuts.part(one, other)

    def heal(self) -> None:
        """Lets everybody reach everybody. What waits goes on."""
        self._cuts.clear()
        self._healed.set()
        self._healed = asyncio.Event()

    async def _connect(self, way: _Way, address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Joins a caller with whom they call, until both have ended. Where one end breaks, the other one breaks, too."""
        try:
            await self._turn(way, writer)
            await self._join(way, address, reader, writer)
        except OSError:
            await self._passage(way)
        finally:
            writer.transport.abort()

    async def _join(self, way: _Way, address: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, _, port = address.rpartition(":")
        far_reader, far_writer = await asyncio.open_connection(host, int(port), limit=CHUNK_BYTES)
        try:
            await asyncio.gather(self._pump(way, reader, far_writer), self._pump(way, far_reader, writer))
        finally:
            await self._passage(way)
            far_writer.transport.abort()

    async def _turn(self, way: _Way, writer: asyncio.StreamWriter) -> None:
        if not self._cuts.between(*way):
            return
        if (former := self._waiting.get(way)) is not None:
            former.transport.abort()
        self._waiting[way] = writer
        await self._passage(way)
        if self._waiting.get(way) is writer:
            del self._waiting[way]
        if writer.transport.is_closing():
            raise ConnectionResetError("given up")

    async def _passage(self, way: _Way) -> None:
        while self._cuts.between(*way):
            await self._healed.wait()

    async def _pump(self, way: _Way, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Passes on what comes, and the end. Raises OSError where one of the ends breaks."""
        while data := await reader.read(CHUNK_BYTES):
            await self._passage(way)
            # That end may have broken while the bytes waited. uvloop then refuses them with RuntimeError, and asyncio loses them.
            if writer.transport.is_closing():
                raise ConnectionResetError("the other end is gone")
            writer.write(data)
            await writer.drain()
        await self._passage(way)
        if not writer.transport.is_closing():
            writer.write_eof()
