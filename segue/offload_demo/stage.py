"""What is played: who follows whom, how many events each publishes in a period, and what the limit is. Pure."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from segue.demo.dataset import Dataset

if TYPE_CHECKING:
    from analytics.planning.instance import Instance


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """`friends` of each user, who all follow each other, and the `events` that each publishes in a period, 1 at least.

    `capacity` is in deliveries in a period; `threshold` events satisfy a user, or all that his friends publish if that is less.
    """

    friends: Mapping[str, tuple[str, ...]]
    events: Mapping[str, int]
    capacity: int
    threshold: int
    metric: Literal["b3m", "fb3m"]

    @property
    def demand(self) -> int:
        """Deliveries in a period if everything is served."""
        return demand(self.friends, self.events)

    def needs(self, user: str) -> int:
        """The events that satisfy `user`; 0 for one who follows nobody."""
        return min(self.threshold, sum(self.events[friend] for friend in self.friends[user]))

    def plays(self, rng: random.Random) -> list[str]:
        """Who publishes, in the order of one period."""
        found = [user for user, count in self.events.items() for _ in range(count)]
        rng.shuffle(found)
        return found

    def instance(self) -> "Instance":
        """The problem as arrays, from these very numbers and not from what the engine has counted."""
        import numpy as np

        from analytics.planning.instance import instance

        users = list(self.friends)
        number = {user: at for at, user in enumerate(users)}
        follower = np.repeat(np.arange(len(users)), [len(self.friends[user]) for user in users])
        followed = np.array([number[friend] for user in users for friend in self.friends[user]], np.int64)
        return instance(follower, followed, np.array([self.events[user] for user in users], np.int64))


def stage(dataset: Dataset, *, events: int, share: float, threshold: int, metric: Literal["b3m", "fb3m"]) -> Stage:
    """Everybody publishes in proportion to what they really played, `events` a period in all or a few more; the capacity is a `share`
    of the deliveries that serving everybody takes."""
    total = dataset.total_plays()
    scale = events / max(1, sum(total.values()))
    counts = {user: max(1, round(total[user] * scale)) for user in dataset.friends}
    capacity = int(share * demand(dataset.friends, counts))
    return Stage(friends=dataset.friends, events=counts, capacity=capacity, threshold=threshold, metric=metric)


def demand(friends: Mapping[str, tuple[str, ...]], events: Mapping[str, int]) -> int:
    """Deliveries if each event reaches each friend of its publisher."""
    return sum(events[user] * len(theirs) for user, theirs in friends.items())
