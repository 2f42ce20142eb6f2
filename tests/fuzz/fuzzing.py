"""The fuzzer: gives a target odd inputs, keeps those of which something new comes, and shows those that it cannot stand."""

import json
import random
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from tests.fuzz.mutator import Mutator
from tests.fuzz.target import FuzzTarget
from tests.fuzz.targets.client_messages import ClientMessages
from tests.fuzz.targets.http_requests import HttpRequests
from tests.fuzz.targets.json_bodies import JsonBodies
from tests.fuzz.targets.link_frames import LinkFrames
from tests.fuzz.targets.link_peers import LinkPeers
from tests.fuzz.targets.tokens import TokenTexts
from tests.fuzz.targets.websocket_frames import WebSocketFrames

CORPUS: Final = Path(__file__).parent / "corpus"
TARGETS: Final[Mapping[str, Callable[[], FuzzTarget]]] = {
    "client-messages": ClientMessages,
    "http-requests": HttpRequests,
    "json-bodies": JsonBodies,
    "link-frames": LinkFrames,
    "link-peers": LinkPeers,
    "tokens": TokenTexts,
    "websocket-frames": WebSocketFrames,
}
# With more, the corpus would take longer to play than it is worth.
MOST_KEPT: Final = 100
MOST_LEARNED: Final = 5_000
MAX_KEPT_BYTES: Final = 1_000
# Nobody sends anything that may keep an access point busy for so long.
SLOW_S: Final = 1.0


class FuzzFinding(NamedTuple):
    """An input that a target cannot stand, and what it raised."""

    data: bytes
    trouble: str


class FuzzResult(NamedTuple):
    """The result of a run: how many inputs were played, what was found, and which inputs led to something new."""

    played: int
    findings: list[FuzzFinding]
    news: list[bytes]


def corpus(name: str, folder: Path = CORPUS) -> list[bytes]:
    """Returns the inputs that are kept for the target `name`. Each is a line: a JSON text whose characters are its bytes."""
    path = folder / f"{name}.jsonl"
    return [json.loads(line).encode("latin-1") for line in path.read_text(encoding="ascii").splitlines()] if path.exists() else []


def keep(name: str, data: bytes, folder: Path = CORPUS) -> Path:
    """Adds an input to the corpus, if it is new, and returns the file."""
    path = folder / f"{name}.jsonl"
    if data not in corpus(name, folder):
        with path.open("a", encoding="ascii") as file:
            file.write(json.dumps(data.decode("latin-1")) + "\n")
    return path


def inputs(target: FuzzTarget, kept: list[bytes], rng: random.Random) -> Iterator[bytes]:
    """Yields the seeds, what is kept, and then odd inputs without end. The mutator learns what is appended to `kept`."""
    mutator = Mutator([*target.seeds, *kept], target.words, rng)
    yield from mutator.seeds
    known = len(kept)
    while True:
        mutator.seeds += kept[known:]
        known = len(kept)
        yield mutator.make()


def fuzz(
    name: str,
    *,
    rng: random.Random,
    most: int | None = None,
    seconds: float | None = None,
    kept: list[bytes] | None = None,
    now: Callable[[], float] = time.monotonic,
) -> FuzzResult:
    """Plays `most` inputs, or for so many `seconds`, at the target `name`.

    - `kept`: the corpus. None takes the one that is in the repository.
    - `now`: time in seconds.

    It stops at the first finding: what comes after it may be a consequence.
    """
    seeds = corpus(name) if kept is None else kept
    learned = list(seeds)
    begun_s, played, seen, news = now(), 0, set[str](), list[bytes]()
    with TARGETS[name]() as target:
        first = len(target.seeds) + len(learned)
        for data in inputs(target, learned, rng):
            if (most is not None and played >= max(most, first)) or (seconds is not None and now() - begun_s >= seconds):
                break
            played += 1
            started_s = time.process_time()
            try:
                came = target.play(data)
            except Exception:
                return FuzzResult(played, [FuzzFinding(data, traceback.format_exc())], news)
            if seconds is not None and time.process_time() - started_s > SLOW_S:
                return FuzzResult(played, [FuzzFinding(data, f"it takes {time.process_time() - started_s:.1f} s of the CPU")], news)
            if came not in seen and played > first and len(learned) < MOST_LEARNED:
                learned.append(data)
                if len(data) <= MAX_KEPT_BYTES and len(seeds) + len(news) < MOST_KEPT:
                    news.append(data)
            seen.add(came)
    return FuzzResult(played, [], news)
