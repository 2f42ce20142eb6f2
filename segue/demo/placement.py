"""The placement of users: the site to which each connects, with friends mostly together, as in life.

In the reference workload the traffic between sites is about a tenth of the traffic within them (SB-27). Here the graph of friends is
cut into sites of nearly equal numbers of users, so that little traffic crosses (`partition`). Sites that hardly speak to each other
would show nothing of replication. So where less than a twentieth would cross, random users change places until about a tenth does.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .partition import Graph, partition

BALANCE_TOLERANCE: Final = 0.05
# Shares of all deliveries that cross: the least that is enough, the share to which less is raised, and the most after one exchange.
LOW_SHARE: Final = 0.05
BLENDED_SHARE: Final = 0.1
HIGH_SHARE: Final = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """The site of each user."""

    site_of: Mapping[str, str]

    def traffic(self, friends: Mapping[str, Sequence[str]], events: Mapping[str, int]) -> "Traffic":
        """Returns the traffic that brings `events[user]` events of each user to all `friends` of that user."""
        deliveries = cross = messages = 0
        for user, theirs in friends.items():
            remote = [self.site_of[friend] for friend in theirs if self.site_of[friend] != self.site_of[user]]
            deliveries += events[user] * len(theirs)
            cross += events[user] * len(remote)
            messages += events[user] * len(set(remote))
        return Traffic(deliveries=deliveries, cross_site_deliveries=cross, link_messages=messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Deliveries, those among them whose follower is at another site than the publisher, and messages on site links.

    An event crosses to another site once if any friend is there (SB-24), so a message can serve many deliveries.
    """

    deliveries: int
    cross_site_deliveries: int
    link_messages: int

    @property
    def cross_site_share(self) -> float:
        """Cross-site deliveries / all deliveries; 0 where there are no deliveries."""
        return self.cross_site_deliveries / self.deliveries if self.deliveries else 0.0


def place(friends: Mapping[str, Sequence[str]], events: Mapping[str, int], sites: Sequence[str], rng: random.Random) -> Placement:
    """Places the users (the keys of `friends`) on one or more `sites`. The same arguments and state of `rng` give the same placement.

    `friends` lists each friendship at both ends. `events` has the number of events of each user; only the proportions matter. The numbers
    of users at the sites lie within 5 % of their mean, or are the mean rounded up or down. 2,000 users with 13 friends each take one to two
    seconds.
    """
    users = list(friends)
    number = {user: node for node, user in enumerate(users)}
    graph = [[(number[friend], events[user] + events[friend]) for friend in friends[user]] for user in users]
    part_of = partition(graph, len(sites), BALANCE_TOLERANCE, rng)
    _blend(graph, part_of, rng)
    return Placement(site_of={user: sites[part] for user, part in zip(users, part_of, strict=True)})


def _blend(graph: Graph, part_of: list[int], rng: random.Random) -> None:
    """Lets random pairs of users change places until enough traffic crosses, where too little does. Sizes stay as they are."""
    total = sum(weight for edges in graph for _, weight in edges)
    cross = sum(_crossing(graph, part_of, node) for node in range(len(graph)))
    if cross >= LOW_SHARE * total:
        return
    order = rng.sample(range(len(graph)), len(graph))
    for one, other in zip(order[::2], order[1::2], strict=False):
        after = cross + _exchange(graph, part_of, one, other)
        if after > HIGH_SHARE * total:
            _exchange(graph, part_of, one, other)
            continue
        cross = after
        if cross >= BLENDED_SHARE * total:
            return


def _exchange(graph: Graph, part_of: list[int], one: int, other: int) -> int:
    """Lets two users change places. Returns by how much that raises the crossing weight, each edge counted at both ends."""
    before = _crossing(graph, part_of, one) + _crossing(graph, part_of, other)
    part_of[one], part_of[other] = part_of[other], part_of[one]
    return 2 * (_crossing(graph, part_of, one) + _crossing(graph, part_of, other) - before)


def _crossing(graph: Graph, part_of: Sequence[int], node: int) -> int:
    return sum(weight for neighbour, weight in graph[node] if part_of[neighbour] != part_of[node])
