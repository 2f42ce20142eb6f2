"""Every one: what must be done for all, even where it goes wrong for some."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

# Nobody reads many thousand errors, and the first ones say what is wrong.
MOST_TOLD: Final = 8


def for_every_one(steps: Iterable[Callable[[], object]]) -> None:
    """Takes all steps, in their order, whatever some of them raise. Raises what `raise_all` makes of that at the end."""
    errors: list[Exception] = []
    for step in steps:
        try:
            step()
        except Exception as error:
            errors.append(error)
    raise_all(errors)


def raise_all(errors: Sequence[Exception]) -> None:
    """Raises the only one of `errors` as it is, several as an ExceptionGroup of the first `MOST_TOLD`; nothing if there are none."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup(f"{len(errors)} steps failed; the others were taken", errors[:MOST_TOLD])
