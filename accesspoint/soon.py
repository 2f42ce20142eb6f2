"""What pure code asks of the loop: a step in its next turn."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from infra.kernel.every_one import for_every_one

T = TypeVar("T")

# `soon(step)` has `step` called in the next turn of the loop, so what one turn brings is done together.
Soon = Callable[[Callable[[], None]], object]


def in_slices(left: list[T], size: int, soon: Soon, do: Callable[[T], object]) -> None:
    """Calls `do` with each of those that are `left`, and takes them out: `size` of them now, others in later turns of the loop.

    So events of others come in between. Raises what went wrong with some of one turn when all of that turn are done.
    """
    # From the end: to cut a list there moves nothing.
    now = left[-size:]
    del left[-size:]
    if left:
        soon(partial(in_slices, left, size, soon, do))
    for_every_one(partial(do, each) for each in now)
