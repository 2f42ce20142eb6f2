"""Arrays that count how often a number of theirs is read or written, for algorithms that are run as plain Python."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numba.core.registry import CPUDispatcher
from numpy.typing import NDArray

from analytics.planning.instance import Instance
from analytics.planning.satisfaction import heap


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


def steps_per_pair(
    monkeypatch: pytest.MonkeyPatch,
    module: ModuleType,
    solve: Callable[[Instance, int, int], object],
    found: Instance,
    thresholds: Iterable[int],
) -> float:
    """Returns the steps for each pair that `solve`, of `module`, takes at the threshold that takes most, with a tenth of the whole cost.

    Steps are numbers that are read and written in what kernels are given first. They run as plain Python: the very code that is compiled.
    """
    steps, counts = Steps(), []
    for each in (module, heap):
        for name, kernel in list(vars(each).items()):
            if isinstance(kernel, CPUDispatcher):
                monkeypatch.setattr(each, name, partial(_call_counted, steps, kernel.py_func))
    for threshold in thresholds:
        before = steps.count
        solve(found, threshold, int(found.cost.sum()) // 10)
        counts.append(steps.count - before)
    return max(counts) / len(found.topics_of.values)


def _call_counted(steps: Steps, kernel: Callable[..., Any], first: Any, *others: Any) -> Any:
    if isinstance(first, tuple) and not isinstance(first[0], Counted):
        first = type(first)(*map(steps.of, first))
    return kernel(first, *others)
