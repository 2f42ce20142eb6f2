"""Which pairs are served (thesis 7.2.1): the outcome of stage 1, and the problem of stage 2."""

from dataclasses import dataclass

import numpy as np

from ..instance import Instance, Ints, Rows


@dataclass(frozen=True, slots=True)
class Selection:
    """For each topic of an instance, the subscribers that it is served to. Pair i is `subscribers_of.values[i]`'s."""

    subscribers_of: Rows

    def __len__(self) -> int:
        return len(self.subscribers_of.values)

    def outgoing(self, instance: Instance) -> int:
        """Events to subscribers in the period."""
        return int(self.subscribers_of.lengths @ instance.events)

    def served(self) -> Ints:
        """The topics that are served to anybody."""
        return np.flatnonzero(self.subscribers_of.lengths)
