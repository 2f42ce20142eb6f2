"""The difference between a new placement and the old one (thesis 7.4; WA-43)."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..instance import Instance, Ints
from .placement import PairPlacement
from .selection import Selection


class Placed(NamedTuple):
    """A selection of pairs of an instance, and the machines that serve them."""

    instance: Instance
    selection: Selection
    placement: PairPlacement


def moved(old: Placed, new: Placed) -> int:
    """Returns how many pairs both plans serve, and how many of them go to another machine.

    Pairs are the same if topic and subscriber had the same numbers in the source. Machines have no identity beyond a plan: each new one
    is matched with the old one with which it shares pairs, so that as few as possible move.
    """
    before, after = _common(old, new)
    shared = np.bincount(before * new.placement.machines + after, minlength=old.placement.machines * new.placement.machines)
    shared = shared.reshape(old.placement.machines, new.placement.machines)
    return int(len(before) - shared[linear_sum_assignment(shared, maximize=True)].sum())


def _common(old: Placed, new: Placed) -> tuple[Ints, Ints]:
    """Returns the old and the new machine of each pair that both plans serve."""
    subscribers = np.union1d(old.instance.subscriber_ids, new.instance.subscriber_ids)
    topics = np.union1d(old.instance.topic_ids, new.instance.topic_ids)
    numbers = _numbers(old, topics, subscribers), _numbers(new, topics, subscribers)
    _, first, second = np.intersect1d(numbers[0], numbers[1], assume_unique=True, return_indices=True)
    return old.placement.machine_of[first].astype(np.int64), new.placement.machine_of[second].astype(np.int64)


def _numbers(plan: Placed, topics: Ints, subscribers: Ints) -> Ints:
    """Returns one number for each pair, the same in both plans."""
    found, chosen = plan.instance, plan.selection.subscribers_of
    topic = np.repeat(np.searchsorted(topics, found.topic_ids), chosen.lengths)
    return topic * len(subscribers) + np.searchsorted(subscribers, found.subscriber_ids)[chosen.values]
