"""The running of studies, each in a process that has time for it."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from analytics.processes import CONTEXT, results

from . import kept_results
from .claims import AnsweredStudy
from .study import OverlayStudy, StudyResult, StudyScale

# Told is the key of a study, and what it does now; nothing when it has ended.
Told = Callable[[str, str], None]
_END = ("", "")


def run_studies(
    studies: Sequence[OverlayStudy],
    scale: StudyScale,
    seed: int,
    *,
    processes: int,
    resume: bool,
    told: Told,
    place: Path | None = None,
) -> list[AnsweredStudy]:
    """Returns the studies in their order, each with its result, which is kept as well (`kept_results`).

    - `processes`: so many studies run at a time.
    - `resume`: results that are known already are taken as they are.
    - `told`: is called with the key of a study and what it does now, also by another thread; with "" when it has ended.
    - `place`: where results are kept, if not in the usual folder.

    Raises what a study raises, and TraceError if a process is killed.
    """
    found = {each.key: kept_results.get(each, scale, seed, place) if resume else None for each in studies}
    missing = [each for each in studies if found[each.key] is None]
    for each in studies:
        if each not in missing:
            told(each.key, "")
    calls = [partial(answered, each, scale, seed) for each in missing]
    by_key = {each.key: each for each in studies}
    with _heard(told) as queue:
        for key, result in results(calls, min(processes, max(1, len(calls))), "the studies", prepare=tell_to, given=(queue,)):
            kept_results.put(by_key[key], scale, seed, result, place)
            found[key] = result
            told(key, "")
    return [AnsweredStudy(each, known) for each in studies if (known := found[each.key]) is not None]


def answered(study: OverlayStudy, scale: StudyScale, seed: int) -> tuple[str, StudyResult]:
    """Runs a study, and returns its key and its result, which is the same as if it had been read from a file."""
    result = study.run(scale, seed, partial(_tell, study.key))
    return study.key, msgspec.json.decode(msgspec.json.encode(result), type=StudyResult)


def tell_to(queue: Any) -> None:
    """Lets the studies of this process tell `queue` what they do."""
    _queues[:] = [queue]


_queues: list[Any] = []


def _tell(key: str, step: str) -> None:
    for queue in _queues:
        queue.put((key, step))


@contextmanager
def _heard(told: Told) -> Iterator[Any]:
    """Yields a queue; what processes put there is told by a thread."""
    queue = CONTEXT.SimpleQueue()

    def listen() -> None:
        while (said := queue.get()) != _END:
            told(*said)

    listener = threading.Thread(target=listen, daemon=True, name="studies")
    listener.start()
    try:
        yield queue
    finally:
        queue.put(_END)
        listener.join()
        queue.close()
