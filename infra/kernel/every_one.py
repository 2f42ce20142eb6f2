"""Every one: what must be done for all, even where it goes wrong for some."""

from collections.abc import Callable, Iterable


def for_every_one(steps: Iterable[Callable[[], object]]) -> None:
    """Takes all steps, in their order, whatever some of them raise. Raises what `raise_all` makes of that at the end."""
    errors: list[Exception] = []
    for step in steps:
        try:
            step()
        except Exception as error:
            errors.append(error)
    raise_all(errors)


def raise_all(errors: list[Exception]) -> None:
    """Raises the only one of `errors` as it is, several as an ExceptionGroup; nothing if there are none."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise ExceptionGroup(f"{len(errors)} of several steps failed; the others were taken", errors)
