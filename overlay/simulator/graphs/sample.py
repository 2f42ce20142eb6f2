"""Samples of large graphs, as PolderCast took them: breadth first from a few users, with all pairs among those reached (PC 6)."""

from typing import Final

import numpy as np

from overlay.protocol import chance
from overlay.protocol.buffer import Buffer

from ..compiled import compiled
from ..draws import Draws, Stream
from ..errors import OverlayError
from .graph import SubscriptionGraph, neighbours

SEEDS: Final = 5


def sample(graph: SubscriptionGraph, users: int, seed: int, seeds: int = SEEDS) -> SubscriptionGraph:
    """Returns the pairs among `users` users of the graph, who are reached from `seeds` random ones; all of it if it has no more.

    Where all that can be reached has been, the search goes on from another random user. In a graph that is not social, users reach those
    who share a topic with them, and keep all of their topics. Raises OverlayError for numbers that make no sense.
    """
    if users < 2:
        raise OverlayError(f"a sample of {users} users: an overlay needs two or more")
    if seeds < 1:
        raise OverlayError(f"{seeds} seeds: a sample begins with one or more")
    if users >= graph.users:
        return graph
    draws = Draws(seed, Stream.SAMPLE)
    starts, joined = neighbours(graph)
    order, seen = draws.order(graph.users), np.zeros(len(starts) - 1, np.int64)
    queue = np.empty(len(starts) - 1 + int(np.diff(starts).max()), np.int64)
    compiled(reach)(draws.state, 0, starts, joined, order, users, seeds, queue, seen)
    return graph.restricted(seen[: graph.users] > 0)


def reach(
    streams: Buffer,
    at: int,
    starts: Buffer,
    joined: Buffer,
    order: Buffer,
    wanted: int,
    seeds: int,
    queue: Buffer,
    seen: Buffer,
) -> None:
    """Sets `seen` to 1 for `wanted` users, and for the topics on the way to them.

    - `streams`, `at`: the stream. Neighbours are visited in random order, so that the last ones are not those of the lowest numbers.
    - `starts`, `joined`: as `neighbours` returns them. What comes after the users is a topic.
    - `order`: all users in random order. The first `seeds` of them begin.
    - `queue`: room for everybody, and for the neighbours of one.
    """
    users = len(order)
    head, tail, found, begun = 0, 0, 0, 0
    while found < wanted:
        if begun < seeds or head == tail:
            if seen[order[begun]] == 0:
                seen[order[begun]] = 1
                queue[tail] = order[begun]
                tail += 1
                found += 1
            begun += 1
            continue
        first = starts[queue[head]]
        count = starts[queue[head] + 1] - first
        head += 1
        for place in range(count):
            queue[tail + place] = joined[first + place]
        chance.shuffle(streams, at, queue, tail, count)
        begin = tail
        for place in range(begin, begin + count):
            other = queue[place]
            if seen[other] == 0 and (found < wanted or other >= users):
                seen[other] = 1
                # Those seen before are passed over, so this is never ahead of `place`.
                queue[tail] = other
                tail += 1
                found += other < users
