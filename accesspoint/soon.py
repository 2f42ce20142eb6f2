"""What pure code asks of the loop: a step in its next turn."""

from collections.abc import Callable

# `soon(step)` has `step` called in the next turn of the loop, so what one turn brings is done together.
Soon = Callable[[Callable[[], None]], object]
