"""The pairs to serve (thesis 7.2.1): the outcome of stage 1, and the problem of stage 2."""

from dataclasses import dataclass

import numpy as np

from ..instance import Instance, Ints, Rows


@dataclass(frozen=True, slots=True)
class Selection:
    """For each topic of an instance, the subscribers who get it. Pair i belongs to subscriber `subscribers_of.values[i]`."""

    subscribers_of: Rows

    def __len__(self) -> int:
        return len(self.subscribers_of.values)

    def outgoing(self, instance: Instance) -> int:
        """Returns the events to subscribers in the period."""
        return int(self.subscribers_of.lengths @ instance.events)

    def served(self) -> Ints:
        """Returns the topics that anybody gets."""
        return np.flatnonzero(self.subscribers_of.lengths)
