"""Which pairs are served (thesis 7.2.1): the outcome of stage 1, and the problem of stage 2."""

from dataclasses import dataclass

import numpy as np

from ..errors import PlanError
from ..instance import MOST_COST, Instance, Ints, Rows


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


def check_threshold(threshold: int) -> None:
    """Raises PlanError for a threshold that nobody can mean."""
    if threshold < 1:
        raise PlanError(f"the threshold is {threshold}; it must be 1 event or more, or nobody would need anything")
    if threshold > MOST_COST:
        raise PlanError(f"the threshold is {threshold}; it must be 2^60 events or less, which is all that anybody can get")
