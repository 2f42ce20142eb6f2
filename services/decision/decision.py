"""A decision of the decision service, and the frames in which peers are told of it."""

from dataclasses import dataclass
from typing import Final

import msgspec

from analytics.offloading.plan import PlanOptions
from infra.kernel.frames import MOST_NUMBER, Assignment
from infra.kernel.topics import Topic

FRAME_TOPICS: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class OffloadingDecision:
    """The outcome of one round (spec C7).

    - `epoch`, `base`: its number, and that of the decision before.
    - `plan`: the options by which it was made.
    - `topics`: how many topics had events and followers.
    - `served`: those of them that stay in real time.
    - `out`: all topics that are not in real time; `left` and `came` are what changes.
    - `cost`, `reduced`: expected deliveries of the next period, of what is served, and of what is out at a reduced rate.
    - `value`, `bound`: the expected satisfaction by what is served alone, and what no choice could surpass.
    - `run_ms`: how long it took.
    """

    epoch: int
    base: int
    plan: PlanOptions
    topics: int
    served: list[Topic]
    out: frozenset[Topic]
    left: list[Topic]
    came: list[Topic]
    cost: int
    reduced: int
    value: float
    bound: float
    run_ms: int

    @property
    def ratio(self) -> float:
        """The value as a part of the bound."""
        return self.value / self.bound if self.bound else 1.0

    def figures(self) -> dict[str, int | float | None]:
        """Returns the line of the log: how much was decided, and what is expected of it."""
        return {
            "epoch": self.epoch,
            "topics": self.topics,
            "served": len(self.served),
            "offloaded": len(self.out),
            "left": len(self.left),
            "came": len(self.came),
            "deliveries": self.cost,
            "reduced": self.reduced,
            "capacity": self.plan.capacity,
            "expected": round(self.value, 3),
            "bound": round(self.bound, 3),
            "ratio": round(self.ratio, 3),
            "run_ms": self.run_ms,
        }

    def change(self) -> list[Assignment]:
        """Returns the frames for a peer that knows the decision before."""
        return self._frames(self.base, self.left, self.came)

    def whole(self) -> list[Assignment]:
        """Returns the frames for a peer that does not."""
        return self._frames(0, sorted(self.out), [])

    def _frames(self, base: int, left: list[Topic], came: list[Topic]) -> list[Assignment]:
        leaving = [self._frame(base, part, []) for part in _parts(left)]
        coming = [self._frame(base, [], part) for part in _parts(came)]
        # The last frame makes a decision whole, so there is one also if nothing changes.
        frames = [*leaving, *coming] or [self._frame(base, [], [])]
        return [*frames[:-1], msgspec.structs.replace(frames[-1], last=True)]

    def _frame(self, base: int, leave: list[Topic], come: list[Topic]) -> Assignment:
        plan = self.plan
        return Assignment(
            epoch=self.epoch,
            base=base,
            last=False,
            leave=leave,  # type: ignore[arg-type]  # topics are bytes
            come=come,  # type: ignore[arg-type]
            overlap_ms=plan.overlap_ms,
            every_ms=plan.every_ms,
            metric=plan.metric,
            threshold=plan.threshold,
            capacity=MOST_NUMBER if plan.capacity is None else plan.capacity,
            expected=self.value,
            bound=self.bound,
            run_ms=self.run_ms,
        )


def _parts(topics: list[Topic]) -> list[list[Topic]]:
    return [topics[first : first + FRAME_TOPICS] for first in range(0, len(topics), FRAME_TOPICS)]
