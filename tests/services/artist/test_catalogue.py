"""Both catalogues give the same lines."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from infra.kernel.errors import Unavailable
from infra.runtime.outgoing.options import OutgoingOptions
from segue.demo.loopback import Loopback
from services.artist.catalogue import BATCH_LINES, CHUNK_BYTES, Catalogue, FileCatalogue, HttpCatalogue, catalogue_of

HERE = OutgoingOptions(private=["127.0.0.1"])


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[str]:
    """Serves the folder over HTTP."""
    async with Loopback(web.static("/", folder)) as server:
        yield f"http://{server.address}"


async def read(catalogue: Catalogue) -> list[bytes]:
    """Returns all lines that are not empty; checks that batches are bounded."""
    batches = [batch async for batch in catalogue.batches()]
    assert max(map(len, batches)) <= BATCH_LINES
    return [line for batch in batches for line in batch if line]


@pytest.mark.parametrize("ending", [b"", b"\n"])
async def test_every_line_arrives_once_and_whole_whatever_the_size_of_the_catalogue(tmp_path: Path, ending: bytes) -> None:
    lines = [b"%d %b" % (n, b"x" * (n % 301)) for n in range(3000)]
    (tmp_path / "catalogue").write_bytes(b"\n".join(lines) + ending)
    async with served(tmp_path) as url:
        assert await read(HttpCatalogue(f"{url}/catalogue", HERE)) == lines
    assert await read(FileCatalogue(tmp_path / "catalogue")) == lines


async def test_a_catalogue_that_cannot_be_read_is_unavailable_and_says_which(tmp_path: Path) -> None:
    async with served(tmp_path) as url:
        with pytest.raises(Unavailable, match=f"{url}/none cannot be read: it answered 404"):
            await read(HttpCatalogue(f"{url}/none", HERE))
    with pytest.raises(Unavailable, match="cannot be read"):
        await read(HttpCatalogue(f"{url}/none", HERE))
    with pytest.raises(Unavailable, match="none cannot be read: No such file"):
        await read(FileCatalogue(tmp_path / "none"))


async def test_a_line_without_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    (tmp_path / "catalogue").write_bytes(b"x" * (3 * CHUNK_BYTES))
    with pytest.raises(Unavailable, match="must be JSON lines"):
        await read(FileCatalogue(tmp_path / "catalogue"))


def test_a_place_is_a_url_or_a_path() -> None:
    assert isinstance(catalogue_of("https://example.test/c", HERE), HttpCatalogue)
    assert isinstance(catalogue_of("c.jsonl", HERE), FileCatalogue)
