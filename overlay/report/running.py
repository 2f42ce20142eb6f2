"""The running of studies."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from . import kept_results
from .claims import AnsweredStudy
from .side_by_side import Told, side_by_side
from .study import OverlayStudy, StudyResult, StudyScale


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
    - `told`: see `side_by_side`.
    - `place`: where results are kept, if not in the usual folder.

    Raises what a study raises, and TraceError if a process is killed.
    """
    by_key = {each.key: each for each in studies}
    found = {key: kept_results.get(each, scale, seed, place) if resume else None for key, each in by_key.items()}
    for key in [key for key, known in found.items() if known is not None]:
        told(key, "")
    work = {key: partial(answer, by_key[key], scale, seed) for key, known in found.items() if known is None}
    for key, result in side_by_side(work, processes, told):
        kept_results.put(by_key[key], scale, seed, result, place)
        found[key] = result
    return [AnsweredStudy(by_key[key], result) for key, result in found.items() if result is not None]


def answer(study: OverlayStudy, scale: StudyScale, seed: int, told: Callable[[str], None]) -> StudyResult:
    """Returns the result of a study, the same as if it had been read from a file. `told`: is called with what it does."""
    return msgspec.json.decode(msgspec.json.encode(study.run(scale, seed, told)), type=StudyResult)
