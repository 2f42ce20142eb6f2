"""The stage: which users follow whom, how many events each publishes in a period, and what the limit is. Its randomness is an argument."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from segue.demo.dataset import Dataset

if TYPE_CHECKING:
    from analytics.planning.instance import Instance


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The stage of a run.

    - `friends`: the friends of each user, who all follow each other.
    - `events`: how many events each user publishes in a period, 1 at least.
    - `capacity`: the limit, in deliveries in a period.
    - `threshold`: how many events satisfy a user; or all that their friends publish, if that is less.
    - `metric`: what the decision maximizes.
    """

    friends: Mapping[str, tuple[str, ...]]
    events: Mapping[str, int]
    capacity: int
    threshold: int
    metric: Literal["b3m", "fb3m"]

    @property
    def demand(self) -> int:
        """The deliveries of a period if everything is served."""
        return demand(self.friends, self.events)

    def needs(self, user: str) -> int:
        """Returns how many events satisfy `user`; 0 for a user who follows nobody."""
        return min(self.threshold, sum(self.events[friend] for friend in self.friends[user]))

    def plays(self, rng: random.Random) -> list[str]:
        """Returns the publishers of all events of one period, in the order that `rng` gives."""
        found = [user for user, count in self.events.items() for _ in range(count)]
        rng.shuffle(found)
        return found

    def instance(self) -> "Instance":
        """Returns the problem as arrays, from these very numbers and not from what the engine has counted."""
        import numpy as np

        from analytics.planning.instance import instance

        users = list(self.friends)
        number = {user: at for at, user in enumerate(users)}
        follower = np.repeat(np.arange(len(users)), [len(self.friends[user]) for user in users])
        followed = np.array([number[friend] for user in users for friend in self.friends[user]], np.int64)
        return instance(follower, followed, np.array([self.events[user] for user in users], np.int64))


def stage(dataset: Dataset, *, events: int, share: float, threshold: int, metric: Literal["b3m", "fb3m"]) -> Stage:
    """Returns the stage of `dataset`, with this `threshold` and `metric`.

    Users publish in proportion to what they really played, `events` a period in all or a few more. The capacity is a `share` of the
    deliveries that it takes to serve everybody.
    """
    total = dataset.total_plays()
    scale = events / max(1, sum(total.values()))
    counts = {user: max(1, round(total[user] * scale)) for user in dataset.friends}
    capacity = int(share * demand(dataset.friends, counts))
    return Stage(friends=dataset.friends, events=counts, capacity=capacity, threshold=threshold, metric=metric)


def demand(friends: Mapping[str, tuple[str, ...]], events: Mapping[str, int]) -> int:
    """Returns the number of deliveries if each of `events` reaches each friend of its publisher."""
    return sum(events[user] * len(theirs) for user, theirs in friends.items())
