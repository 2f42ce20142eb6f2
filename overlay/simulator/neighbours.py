"""Random graphs of neighbours, for overlays that work over any graph of links."""

from typing import NamedTuple

from ..protocol.buffer import Buffer
from ..protocol.chance import begin, below, shuffle
from .compiled import COMPILED, Execution
from .errors import OverlayError


class NeighbourGraph(NamedTuple):
    """Links in both directions, numbered so that those of a node follow each other.

    - `offsets`: where the links of each node begin, and behind the last one their number.
    - `ends`: where each link leads.
    - `back`: the number of the same link seen from the other end.
    """

    offsets: Buffer
    ends: Buffer
    back: Buffer


def random_graph(nodes: int, *, mean: int, most: int, seed: int, execution: Execution = COMPILED) -> NeighbourGraph:
    """Returns a connected random graph: a ring in random order, and random links until nodes have `mean` in the mean and `most` at most.

    Raises OverlayError if there is no such graph.
    """
    if nodes < 3 or not 2 <= mean <= most or most >= nodes:
        raise OverlayError(
            f"{nodes} nodes cannot have {mean} neighbours in the mean and {most} at most; "
            "give 3 nodes or more, and 2 <= mean <= most < nodes"
        )
    table, degrees = execution.filled(nodes * most), execution.filled(nodes)
    order = execution.buffer(range(nodes))
    execution.kernel(draw_links)(execution.filled(1), table, degrees, order, nodes * mean // 2, most, seed)
    links = sum(int(degrees[node]) for node in range(nodes))
    graph = NeighbourGraph(execution.filled(nodes + 1), execution.filled(links), execution.filled(links))
    execution.kernel(number_links)(table, degrees, most, graph.offsets, graph.ends, graph.back)
    return graph


def draw_links(streams: Buffer, table: Buffer, degrees: Buffer, order: Buffer, links: int, most: int, seed: int) -> None:
    """Draws links between the nodes of `order`; `table` has room for `most` neighbours of each, `degrees` says how many there are.

    Ends when there are so many `links`, or when nearly all that is drawn is full.
    """
    begin(streams, 0, seed, 0)
    nodes = len(order)
    shuffle(streams, 0, order, 0, nodes)
    for place in range(nodes):
        join(table, degrees, order[place], order[(place + 1) % nodes], most)
    made, failed = nodes, 0
    while made < links and failed < 100 * nodes:
        if join(table, degrees, below(streams, 0, nodes), below(streams, 0, nodes), most):
            made += 1
        else:
            failed += 1


def join(table: Buffer, degrees: Buffer, one: int, other: int, most: int) -> bool:
    """Links two nodes. Returns whether that was possible: they are two, both have room, and they are not linked yet."""
    if one == other or degrees[one] == most or degrees[other] == most:
        return False
    for place in range(degrees[one]):
        if table[one * most + place] == other:
            return False
    table[one * most + degrees[one]] = other
    table[other * most + degrees[other]] = one
    degrees[one] += 1
    degrees[other] += 1
    return True


def number_links(table: Buffer, degrees: Buffer, most: int, offsets: Buffer, ends: Buffer, back: Buffer) -> None:
    """Fills in a `NeighbourGraph`."""
    for node in range(len(degrees)):
        offsets[node + 1] = offsets[node] + degrees[node]
    for node in range(len(degrees)):
        for place in range(degrees[node]):
            other = table[node * most + place]
            ends[offsets[node] + place] = other
            for there in range(degrees[other]):
                if table[other * most + there] == node:
                    back[offsets[node] + place] = offsets[other] + there
