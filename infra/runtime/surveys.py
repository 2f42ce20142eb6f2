"""Answers to the surveys of the decision service. They come a portion in each turn of the loop, so that nobody else waits for them."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from infra.kernel.frames import Frame, Surveyed

from .link import Link
from .turns import in_turns

# How long to wait for a service that reads more slowly than its link may queue.
PAUSE_S: Final = 0.05


class Surveys:
    """The surveys that were asked on `link` and are not answered yet.

    - `tell()`: yields what there is to say, portion by portion.
    - `epoch()`: returns the epoch of the assignment that holds here.

    One survey is answered after the other. Of those that wait, only the newest is answered: to the others nothing is left to say.
    """

    def __init__(self, link: Link, tell: Callable[[], Iterator[Sequence[Frame]]], epoch: Callable[[], int]) -> None:
        self._link, self._tell, self._epoch = link, tell, epoch
        self._asked: list[int | None] = []
        self._over = False

    def ask(self, n: int | None) -> None:
        """Answers survey `n` when its turn comes. With None everything is told as if there had been one, but no end is said."""
        self._asked.append(n)
        if len(self._asked) == 1:
            in_turns(self._answers())
        del self._asked[1:-1]

    def end(self) -> None:
        """Says nothing more, because the link is gone."""
        self._over = True

    def _answers(self) -> Iterator[float]:
        try:
            while self._asked and not self._over:
                yield from self._answer(self._asked[0])
                del self._asked[0]
        finally:
            self._asked.clear()  # one that could not be answered must not keep the next one waiting

    def _answer(self, n: int | None) -> Iterator[float]:
        for portion in self._tell():
            for frame in portion:
                self._link.send(frame)
            yield 0.0
            while self._link.full and not self._over:
                yield PAUSE_S
            if self._over:
                return
        if n is not None:
            self._link.send(Surveyed(n, self._epoch()))
