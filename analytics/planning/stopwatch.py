"""How long something takes, without what compiling its kernels takes."""

import time
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

import numpy as np

from .instance import Instance, instance

P = ParamSpec("P")
T = TypeVar("T")

# What a user is told meanwhile.
WARMING: Final = "loading the kernels (compiled once, which takes half a minute)"


def timed(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> tuple[T, float]:
    """What `work` returns, and in how many seconds."""
    begin_s = time.perf_counter()
    done = work(*args, **kwargs)
    return done, time.perf_counter() - begin_s


def trial() -> Instance:
    """A problem to solve first, so that kernels are compiled and loaded: two subscribers, two topics."""
    return instance(np.array([0, 0, 1], np.int32), np.array([0, 1, 1], np.int32), np.array([1, 2]))
