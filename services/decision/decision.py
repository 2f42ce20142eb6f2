"""What the decision service has decided, and how links are told."""

from dataclasses import dataclass
from typing import Final

import msgspec

from analytics.offloading.plan import PlanOptions
from infra.kernel.frames import MOST_NUMBER, Assignment
from infra.kernel.topics import Topic

FRAME_TOPICS: Final = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class OffloadingDecision:
    """One round (spec C7): of the topics with events and followers, `served` stay in real time; `out` are all topics that are not,
    `left` and `came` what that changes. Expected for the next period: the `cost` of what is served, in deliveries; those that are made
    of what is out all the same, `reduced`; by what is served alone, the `value`, and its `bound`."""

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
        """The value, as a part of the bound."""
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
        """For a link that was told of the decision before."""
        return self._frames(self.base, self.left, self.came)

    def whole(self) -> list[Assignment]:
        """For a link that was not."""
        return self._frames(0, sorted(self.out), [])

    def _frames(self, base: int, left: list[Topic], came: list[Topic]) -> list[Assignment]:
        leaving = [self._frame(base, part, []) for part in _parts(left)]
        coming = [self._frame(base, [], part) for part in _parts(came)]
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
