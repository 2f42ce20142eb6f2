"""Which topics change sides between two choices: what a switch costs the engine (spec D7, WA-46)."""

from dataclasses import dataclass

import numpy as np

from ..instance import Instance, Ints
from ..satisfaction.solution import Solution


@dataclass(frozen=True, slots=True)
class Moves:
    """The topics that `came` into real time and that `left` it; rising ids."""

    came: Ints
    left: Ints

    @property
    def count(self) -> int:
        """How many topics changed sides."""
        return len(self.came) + len(self.left)


def moves(old_ids: Ints, new_ids: Ints) -> Moves:
    """From the topics that were served to those that are."""
    return Moves(np.setdiff1d(new_ids, old_ids), np.setdiff1d(old_ids, new_ids))


def sides(old_ids: Ints, instance: Instance, solution: Solution) -> Ints:
    """The ids of the topics on the served side after `solution`, rising; `old_ids` were there before.

    A topic without events or without subscribers is in no instance: nothing is decided about it, so it stays where it was, and costs
    nothing there.
    """
    idle = old_ids[~np.isin(old_ids, instance.topic_ids, assume_unique=True)]
    return np.sort(np.concatenate([idle, instance.topic_ids[solution.topics]]))
