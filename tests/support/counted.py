"""Arrays that count how often a number of theirs is read or written, for algorithms that are run as plain Python."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Steps:
    """A count: how often, in all arrays `of` it."""

    def __init__(self) -> None:
        self.count = 0

    def of(self, array: NDArray[Any]) -> "Counted":
        """Returns the same numbers, counted."""
        view = array.view(Counted)
        view.steps = self
        return view


class Counted(np.ndarray):
    """Parts of it are counted together with it."""

    steps: Steps

    def __array_finalize__(self, whole: Any) -> None:
        self.steps = getattr(whole, "steps", None) or Steps()

    def __getitem__(self, key: Any) -> Any:
        self.steps.count += not isinstance(key, slice)
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.steps.count += not isinstance(key, slice)
        super().__setitem__(key, value)

    def __iter__(self) -> Iterator[Any]:
        return (self[at] for at in range(len(self)))
