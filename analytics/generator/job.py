"""The generation of a trace: plan it, write its parts side by side, say in the manifest what it is."""

import shutil
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final, Literal

from infra.kernel.manifest import Manifest, TableInfo
from infra.kernel.trace import TABLES, Service

from ..building import building
from ..parts import write_manifest
from ..processes import results
from .estimate import check_room, fractions
from .events import chunks as event_chunks
from .pairs import chunks as subscriber_chunks
from .profile import Profile
from .services import others
from .sessions import NOTES
from .tasks import ROWS_PER_PART, EventsTask, SubscribersTask, TableTask, TotalsTask, Work
from .trace_plan import TracePlan

Progress = Callable[[str, int, int], None]
PLANNING: Final = "planning"
WRITING: Final = "writing"
# There must be enough chunks to share among processes, and each must be so large that exchange within it finds partners.
_PAIRS_PER_CHUNK: Final = 4_000_000
_SAMPLED_BY: Final[dict[str, Literal["row", "user"]]] = {"sessions": "user", "subscription_log": "user"}


def generate(
    target: Path,
    profile: Profile,
    *,
    publications: int | None,
    sessions: int | None,
    processes: int,
    progress: Progress,
) -> Manifest:
    """Writes a trace to the folder `target`, which must not exist, and returns its manifest.

    - `profile`: what to generate.
    - `publications`, `sessions`: about how many rows the table of events, and each table of stays, may have; None for all, 0 for none.
    - `processes`: how many write side by side. The bytes written do not depend on it.
    - `progress`: called with the step, how much of it is done, and of how much.

    Raises TraceError if the folder exists or the disk has no room. When it is interrupted or fails, nothing is left.
    """
    parts = fractions(profile, publications, sessions)
    check_room(target, profile, parts)
    with building(target) as folder:
        plan = TracePlan(folder / "plan")
        plan.folder.mkdir()
        progress(PLANNING, 0, 1)
        plan.write(profile)
        progress(PLANNING, 1, 1)
        work = Work(profile, folder, plan, parts["publications"], parts["sessions"])
        written = _written(work, _tasks(work), processes, progress)
        shutil.rmtree(plan.folder)
        manifest = _manifest(profile, parts, written)
        write_manifest(folder, manifest)
    return manifest


def _tasks(work: Work) -> list[TableTask]:
    services: tuple[Service, ...] = ("presence", *others(work.profile))
    tasks: list[TableTask] = [SubscribersTask(chunk) for chunk in subscriber_chunks(work.profile, _PAIRS_PER_CHUNK)]
    tasks += [TotalsTask(service, number) for number, service in enumerate(services)]
    if work.publications:
        pieces = [
            (service, topics)
            for service in services
            for topics in event_chunks(work.plan.counts(service).events, work.publications, ROWS_PER_PART)
        ]
        tasks += [EventsTask(service, number, topics) for number, (service, topics) in enumerate(pieces)]
    return tasks


def _written(work: Work, tasks: list[TableTask], processes: int, progress: Progress) -> Counter[str]:
    done: Counter[str] = Counter()
    progress(WRITING, 0, len(tasks))
    calls = [partial(task.run, work) for task in tasks]
    with closing(results(calls, processes, str(work.folder))) as every:
        for number, written in enumerate(every, start=1):
            done += written
            progress(WRITING, number, len(tasks))
    return done


def _manifest(profile: Profile, fractions: dict[str, float], written: Counter[str]) -> Manifest:
    return Manifest(
        name=f"{profile.name}-{profile.scale:g}",
        origin="generated",
        source=f"generator of Segue, profile {profile.name}, after chapter 5 of Setty's thesis (Oslo 2015)",
        profile=profile.name,
        scale=profile.scale,
        seed=profile.seed,
        start_ms=profile.start_ms,
        end_ms=profile.end_ms,
        time_zone=profile.time_zone,
        pseudonymisation="none needed: nobody in it exists",
        sites=profile.sites,
        tables={
            table: TableInfo(rows=written[table], fraction=fractions[table], sampled_by=_SAMPLED_BY.get(table, "row"))
            for table in TABLES
            if written[table]
        },
        limits=_limits(profile),
        notes=_notes(profile, written),
    )


def _limits(profile: Profile) -> dict[str, str]:
    return {} if profile.sites else {"local_remote": "the profile has no sites"}


def _notes(profile: Profile, written: Counter[str]) -> tuple[str, ...]:
    notes = [f"{written['repeated']:,} pairs were drawn twice and got another topic; {written['dropped']:,} found none and were left out"]
    if profile.name == "twitter":
        notes.append("no time courses of Twitter were published: hours and days are those of the Spotify profile")
    return (*notes, *(NOTES if written["sessions"] else ()))
