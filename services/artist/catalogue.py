"""Where the catalogue comes from: a file or an HTTP document of JSON lines, read as a stream, never held as a whole.

{"artist":"a1","name":"Sigur Rós","type":"album","id":"al-7","title":"Valtari","released":"2012-05-23"}
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import BinaryIO, Final, Protocol

from infra.kernel.errors import Unavailable
from infra.runtime.outgoing.client import OutgoingClient
from infra.runtime.outgoing.options import OutgoingOptions
from infra.runtime.outgoing.resolver import NotCallable

BATCH_LINES: Final = 500
CHUNK_BYTES: Final = 64 << 10
STALLED_S: Final = 60.0
LONGEST_S: Final = 6 * 3600.0


class Catalogue(Protocol):
    """A list of what artists have released. The job reads it from the beginning in each run."""

    def batches(self) -> AsyncGenerator[list[bytes], None]:
        """Yields all lines, at most `BATCH_LINES` at a time; empty ones may be among them.

        Raises Unavailable when it cannot be read now. A caller who does not read to the end closes it.
        """


class FileCatalogue:
    """A catalogue in a file on this host. It should be replaced as a whole (rename), so that no run sees half of it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def batches(self) -> AsyncGenerator[list[bytes], None]:
        """See `Catalogue`."""
        try:
            with self._opened() as file:
                async for lines in _lines(_chunks(file)):
                    yield lines
        except OSError as error:
            raise Unavailable(f"the catalogue {self._path} cannot be read: {error.strerror}; artist.catalogue names the file") from error

    def _opened(self) -> BinaryIO:
        """Opens the file here and not in a thread: if the caller were cancelled meanwhile, nobody would close it."""
        return self._path.open("rb")


class HttpCatalogue:
    """A catalogue in a document at a URL, called as `outgoing` lets us.

    A server that says nothing for a minute has failed, and so has one that is not done after six hours.
    """

    def __init__(self, url: str, outgoing: OutgoingOptions) -> None:
        self._url, self._outgoing = url, outgoing

    async def batches(self) -> AsyncGenerator[list[bytes], None]:
        """See `Catalogue`."""
        client = OutgoingClient(self._outgoing, timeout_s=LONGEST_S, idle_s=STALLED_S)
        try:
            async with client.stream(self._url) as answer:
                if answer.status != 200:
                    raise Unavailable(f"it answered {answer.status}")
                async for lines in _lines(answer.chunks):
                    yield lines
        except (NotCallable, Unavailable) as error:
            raise Unavailable(f"the catalogue {self._url} cannot be read: {error}") from error
        finally:
            await client.close()


async def _chunks(file: BinaryIO) -> AsyncIterator[bytes]:
    while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
        yield chunk


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[list[bytes]]:
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > CHUNK_BYTES:
            raise Unavailable(f"the catalogue has a line of more than {CHUNK_BYTES} bytes; it must be JSON lines")
        for start in range(0, len(lines), BATCH_LINES):
            yield lines[start : start + BATCH_LINES]
    yield [rest]


def catalogue_of(place: str, outgoing: OutgoingOptions) -> Catalogue:
    """Returns the catalogue at `place`: a URL, called as `outgoing` lets us, or a path."""
    return HttpCatalogue(place, outgoing) if place.startswith(("http://", "https://")) else FileCatalogue(Path(place))
