"""The topics that change sides between two choices. Each such move costs the engine something (spec D7, WA-46)."""

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Instance, Ints
from ..satisfaction.solution import Solution


@dataclass(frozen=True, slots=True)
class Moves:
    """The topics that `came` into real time and those that `left` it, as rising ids."""

    came: Ints
    left: Ints

    @property
    def count(self) -> int:
        """Returns the number of topics that changed sides."""
        return len(self.came) + len(self.left)


def moves(old_ids: Ints, new_ids: Ints) -> Moves:
    """Returns the moves from the topics that were served (`old_ids`) to those that are (`new_ids`)."""
    return Moves(np.setdiff1d(new_ids, old_ids), np.setdiff1d(old_ids, new_ids))


def sides(old_ids: Ints, instance: Instance, solution: Solution) -> Ints:
    """Returns the ids of the served topics after `solution`, in rising order. `old_ids` are those before it.

    A topic without events or without subscribers is in no instance. Nothing is decided about it, so it stays where it was and costs
    nothing there.
    """
    idle = old_ids[~found(old_ids, instance.topic_ids)]
    return np.sort(np.concatenate([idle, instance.topic_ids[solution.topics]]))


@njit(cache=True, nogil=True)
def found(ids: Ints, among: Ints) -> NDArray[np.bool_]:
    """Returns whether each of `ids` is `among` others. Both are in rising order, which makes this several times as fast as `isin`."""
    result, at = np.zeros(len(ids), np.bool_), 0
    for place in range(len(ids)):
        while at < len(among) and among[at] < ids[place]:
            at += 1
        result[place] = at < len(among) and among[at] == ids[place]
    return result
