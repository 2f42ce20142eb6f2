"""A life of pure cores: operations are played on them one after the other, and what must hold is looked at behind each.

There is no event loop and there are no wires. What would be on its way is in queues of the life, and when it arrives is an operation, too.
"""

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from typing import ClassVar

from infra.kernel.codec import FrameDecoder, encode
from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame

from ..operations import MOST, PICKS, Operation
from ..oracle import Violated

# Numbers that no honest peer says, beside those that one may.
ODD_NUMBERS = (0, 1, 2, 1 << 31, (1 << 32) - 1, 1 << 53, (1 << 62) - 1)


class CoreLife(ABC):
    """A life that is drawn from a seed.

    - `KINDS`: how often which operation is drawn. Each is a method with its name and an underscore, which takes the picks.
    - `now_s`: the time, which only operations move.
    - `has_liars`: whether some peers say what is not so. Those who listen to them may be told what is not so, too, and nobody else.
    - `looked_at`: how much was checked.
    """

    KINDS: ClassVar[dict[str, int]]

    def __init__(self, rng: random.Random) -> None:
        self.now_s = 0.0
        self.has_liars = rng.random() < 0.4
        self.looked_at: Counter[str] = Counter()

    @abstractmethod
    def check(self) -> None:
        """Raises Violated where something does not hold that must hold at all times."""

    @abstractmethod
    def settle(self) -> None:
        """Has all that is on its way arrive, and liars be gone. Raises Violated where not all is well then."""

    def play(self, operations: list[Operation]) -> None:
        """Plays `operations`, and lets all be well in the end. Raises Violated, also for an error of production that nobody expects."""
        for operation in operations:
            act: Callable[..., None] = getattr(self, f"_{operation.what}")
            self._do(operation.what, act, *operation.picks)
        self._do("settle", self.settle)

    def _do(self, what: str, act: Callable[..., None], *picks: int) -> None:
        try:
            act(*picks)
            self.check()
        except Violated:
            raise
        except Exception as error:
            raise Violated(f"{what} raises {error!r}") from error


def drawn_for(life: type[CoreLife], rng: random.Random, number: int) -> list[Operation]:
    """Returns so many operations of a kind of life."""
    kinds, weights = list(life.KINDS), list(life.KINDS.values())
    random_of = rng.random
    return [Operation(kind, 0.0, tuple(int(random_of() * MOST) for _ in range(PICKS))) for kind in rng.choices(kinds, weights, k=number)]


def read(frame: AnyFrame) -> AnyFrame | None:
    """Returns a frame as it comes over a wire; None where the codec refuses it, and the link would be closed."""
    try:
        return FrameDecoder().feed(encode(frame))[0]
    except Refused:
        return None
