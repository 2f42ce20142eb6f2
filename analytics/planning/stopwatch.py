"""The time that work takes, without the time that its kernels take to compile."""

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
    """Returns the result of `work`, and the seconds that it took."""
    begin_s = time.perf_counter()
    done = work(*args, **kwargs)
    return done, time.perf_counter() - begin_s


def trial() -> Instance:
    """Returns a problem of two subscribers and two topics. Whoever solves it first has the kernels compiled and loaded."""
    return instance(np.array([0, 0, 1], np.int32), np.array([0, 1, 1], np.int32), np.array([1, 2]))
