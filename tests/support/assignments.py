"""Assignments of the decision service, for tests."""

from typing import Any

from infra.kernel.frames import Assignment
from infra.kernel.topics import Topic, parse_topic


def assignment(epoch: int, *leave: Topic, base: int = 0, come: tuple[Topic, ...] = (), last: bool = True, **fields: Any) -> Assignment:
    """Returns one frame of an assignment: of `epoch` on top of `base`, with topics that `come`; topics that leave are given in a row."""
    usual: dict[str, Any] = {"overlap_ms": 0, "every_ms": 0, "metric": "b3m", "threshold": 10, "capacity": 100}
    usual |= {"expected": 1.0, "bound": 2.0, "run_ms": 3}
    return Assignment(epoch=epoch, base=base, last=last, leave=list(leave), come=list(come), **usual | fields)


def playlist(owner: str, name: str) -> Topic:
    """Returns the topic of a playlist."""
    return parse_topic(f"hm://playlist/user/{owner}/playlist/{name}/")
