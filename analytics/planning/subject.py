"""What a study is about."""

from typing import Any

import msgspec

from .workload import Workload


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """A service of a trace, and how large a problem it is; each study adds its answers. `notes`: what a reader must know."""

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
    """The fields of its Subject, without notes."""
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
