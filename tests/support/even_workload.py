"""A small workload at hand: every node subscribes to a few topics that are drawn evenly."""

import numpy as np

from overlay.protocol.chance import begin, sample
from overlay.simulator.workload import OverlayWorkload, workload


def even_workload(*, nodes: int, topics: int, each: int, seed: int) -> OverlayWorkload:
    """Returns a workload in which each node subscribes to `each` topics, or to all if there are fewer."""
    streams = [0]
    begin(streams, 0, seed, 0)
    choices = list(range(topics))
    pairs = []
    for node in range(nodes):
        for place in range(sample(streams, 0, choices, 0, topics, each)):
            pairs.append((node, choices[place]))
    node_of, topic_of = np.array(pairs).T
    return workload(node_of, topic_of, nodes=nodes, topics=topics)
