"""The subject of a study."""

from typing import Any

import msgspec

from .workload import Workload


class StudySubject(msgspec.Struct, frozen=True, kw_only=True):
    """A service of a trace, and the size of its problem. Each study adds its answers. `notes`: facts that a reader must know."""

    name: str
    source: str
    profile: str | None
    service: str
    topics: int
    subscribers: int
    pairs: int
    events: int
    notes: list[str]


def facts(workload: Workload) -> dict[str, Any]:
    """Returns the fields of the workload's Subject, without notes."""
    about, found = workload.about, workload.instance
    return {
        "name": about.name,
        "source": about.source,
        "profile": about.profile,
        "service": workload.service,
        "topics": len(found.events),
        "subscribers": len(found.topics_of),
        "pairs": len(found.topics_of.values),
        "events": int(found.events.sum()),
    }
