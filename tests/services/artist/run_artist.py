"""An artist service as a process of its own, which runs its job once: `run_artist CATALOGUE INTAKE SECRET`."""

import asyncio
import random
import sys
import time
from functools import partial
from pathlib import Path

from infra.runtime.context import Context
from infra.runtime.logs import get_logger
from infra.runtime.tokens import AuthOptions, Keys, Verifier, issue
from infra.runtime.wire.memory import MemoryNetwork
from services.artist.options import ArtistOptions
from services.artist.server import ArtistService


async def run(catalogue: Path, intake: str, secret: bytes) -> None:
    """Runs the job once. Its store is beside the catalogue."""
    options = ArtistOptions(
        site="sto",
        node="m1",
        listen="sto/m1",
        door="127.0.0.1:0",
        path=str(catalogue.parent),
        catalogue=str(catalogue),
        at="",
        notification=[intake],
    )
    verifier = Verifier(AuthOptions(), Keys(secret=secret), lambda: None)
    token = partial(_token, secret)
    log = get_logger("artist", "m1", "sto")
    artist = ArtistService(options, Context(network=MemoryNetwork(), log=log, rng=random.Random(1)), verifier, token)
    await artist.start()
    await artist.work.job.run_once()
    await artist.close()


def _token(secret: bytes, service: str) -> str:
    return issue(secret, service=service, ttl_s=600, now_s=time.time())


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), sys.argv[2], sys.argv[3].encode()))
