"""Tellings: what somebody is being told of losses, a part in each turn of the loop."""

from collections.abc import Iterator

from infra.runtime.turns import in_turns


class Tellings:
    """The tellings that are under way. It is true while there are any."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def __bool__(self) -> bool:
        return self._count > 0

    def begin(self, telling: Iterator[float]) -> None:
        """Takes a step of `telling` in each turn, from the next one on, until it ends (see `in_turns`)."""
        self._count += 1
        in_turns(self._through(telling))

    def _through(self, telling: Iterator[float]) -> Iterator[float]:
        yield from telling
        self._count -= 1
