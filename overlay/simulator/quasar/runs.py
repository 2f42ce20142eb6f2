"""The runs behind Quasar's figures 3 and 4: coverage and the farthest member, over sizes of the system and of groups."""

from collections.abc import Iterator
from math import ceil
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...protocol.chance import begin, below
from ..compiled import numbers
from ..neighbours import random_graph
from ..workload import OverlayWorkload, workload
from .overlay import DEGREE, MOST_NEIGHBOURS, QuasarOverlay
from .state import PAPER, QuasarSettings
from .walkers import FALSE_LOST, FALSE_TRAILS, POLL_STEPS, TRAILS

GroupKind = Literal["myspace", "100", "2%"]
KINDS: Final[tuple[GroupKind, ...]] = ("myspace", "100", "2%")
SIZES: Final = (1024, 2048, 4096, 8192, 16_384, 32_768)
# Groups of MySpace had 2 to 1055 members, by two laws that look like Zipf's: one for users, one for communities. The paper gives no
# exponents; these are ours.
LEAST_MEMBERS: Final = 2
MOST_MEMBERS: Final = 1055
_USERS: Final = 0.8
_USER_EXPONENT: Final = 1.5
_COMMUNITY_EXPONENT: Final = 1.0
# So many groups live in a system at once. More would fill the filters; fewer would take a new system for every run.
GROUPS: Final = 20


class CoverageRun(NamedTuple):
    """One event.

    - `members`: the size of its group, the publisher included.
    - `reached`: how many of them got it; `farthest` over how many hops the last one.
    - `messages`: how many copies were received by anybody.
    - `trails`, `false_trails`: steps that followed a filter, and those of them that followed one which had nobody.
    - `false_lost`: messages that ended behind such a step.
    - `poll_steps`: steps of polls, where members poll.
    - `fill`: the share of bits that are set in the farthest filters of its system.
    """

    nodes: int
    members: int
    reached: int
    farthest: int
    messages: int
    trails: int
    false_trails: int
    false_lost: int
    poll_steps: int
    fill: float

    @property
    def coverage(self) -> float:
        """The share of members that got it."""
        return self.reached / self.members


def group_sizes(kind: GroupKind, nodes: int, count: int, seed: int) -> list[int]:
    """Returns the sizes of `count` groups in a system of `nodes`. None has more members than there are nodes."""
    if kind == "100":
        return [min(100, nodes)] * count
    if kind == "2%":
        return [max(LEAST_MEMBERS, nodes // 50)] * count
    random = np.random.default_rng([seed, nodes])
    return [min(nodes, each) for each in _zipf_like(random, count)]


def _zipf_like(random: np.random.Generator, count: int) -> list[int]:
    sizes = np.arange(LEAST_MEMBERS, MOST_MEMBERS + 1)
    laws = [sizes ** -float(exponent) for exponent in (_USER_EXPONENT, _COMMUNITY_EXPONENT)]
    share = _USERS * laws[0] / laws[0].sum() + (1 - _USERS) * laws[1] / laws[1].sum()
    drawn: list[int] = random.choice(sizes, count, p=share).tolist()
    return drawn


def groups(nodes: int, members: list[int], seed: int) -> OverlayWorkload:
    """Returns a workload with a topic for each number in `members`, whose subscribers are drawn evenly."""
    random = np.random.default_rng([seed, nodes, len(members)])
    drawn: list[NDArray[np.int64]] = [random.choice(nodes, count, replace=False) for count in members]
    return workload(np.concatenate(drawn), np.repeat(np.arange(len(members)), members), nodes=nodes, topics=len(members))


def coverage_runs(
    nodes: int,
    kind: GroupKind,
    runs: int,
    seed: int,
    settings: QuasarSettings = PAPER,
    *,
    polls: int = 0,
    degree: int = DEGREE,
) -> Iterator[CoverageRun]:
    """Yields `runs` events, each of a group of its own. Every GROUPS of them happen in one system.

    - `nodes`: of each system. `kind`: of the groups. `degree`: how many neighbours nodes have in the mean.
    - `polls`: so many rounds of polls follow each event.
    """
    for system in range(ceil(runs / GROUPS)):
        count = min(GROUPS, runs - system * GROUPS)
        place = [seed, system]
        number = int(np.random.default_rng(place).integers(1 << 31))
        subscribed = groups(nodes, group_sizes(kind, nodes, count, number), number)
        graph = random_graph(nodes, mean=degree, most=MOST_NEIGHBOURS, seed=number)
        overlay = QuasarOverlay(subscribed, number, settings, graph=graph)
        for _ in range(settings.depth + 1):
            overlay.cycle()
        fill = overlay.fill()
        streams = [0]
        begin(streams, 0, number, nodes)
        for topic in range(count):
            members = overlay.members(topic)
            yield _run(overlay, topic, members, members[below(streams, 0, len(members))], polls, fill)


def _run(overlay: QuasarOverlay, topic: int, members: list[int], publisher: int, polls: int, fill: float) -> CoverageRun:
    before = numbers(overlay.tallies)
    done = overlay.publish(topic, publisher, polls=polls, looks_for_false_trails=True)
    counted = [now - then for now, then in zip(numbers(overlay.tallies), before, strict=True)]
    hops = done.hops[members]
    return CoverageRun(
        nodes=len(done.hops),
        members=len(members),
        reached=int((hops >= 0).sum()),
        farthest=int(hops.max()),
        messages=done.messages,
        trails=counted[TRAILS],
        false_trails=counted[FALSE_TRAILS],
        false_lost=counted[FALSE_LOST],
        poll_steps=counted[POLL_STEPS],
        fill=fill,
    )
