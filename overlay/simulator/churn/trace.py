"""A trace of nodes that come and leave: read, written, and checked."""

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from analytics.importers.rows import UNIX_MS, Layout, line_of, read_rows

from ..draws import Array
from ..errors import OverlayError

_HEADER: Final = "time_ms node on"
_LAYOUT: Final = Layout(tuple(_HEADER.split()), (_HEADER,), below={"time_ms": UNIX_MS, "node": 1 << 24, "on": 2})


@dataclass(frozen=True, eq=False)
class ChurnTrace:
    """Changes in order of time. Nobody is there before the first change: who is there from the beginning on comes at 0.

    - `time_ms`: of each change. `node`: who comes or leaves. `on`: 1 for those who come, 0 for those who leave.
    """

    time_ms: Array
    node: Array
    on: Array

    def __len__(self) -> int:
        return len(self.node)

    @property
    def nodes(self) -> int:
        """The number of nodes, by the highest one that ever comes."""
        return int(self.node.max(initial=-1)) + 1

    def present(self) -> tuple[Array, Array]:
        """Returns each time at which somebody comes or leaves, and how many are there from then on."""
        times = np.unique(self.time_ms)
        there = np.cumsum(2 * self.on - 1)
        return times, there[np.searchsorted(self.time_ms, times, side="right") - 1]


def read_churn(path: Path, nodes: int | None = None) -> ChurnTrace:
    """Reads a trace: a line `time_ms node on`, and then three whole numbers in each row, in order of time. It may be packed by gzip.

    `nodes`: how many the overlay has, if that is known; the trace may have no others.

    Raises TraceError for what are no such numbers, and OverlayError where they cannot be true. Both name the line, and say what to do.
    """
    rows = read_rows(path, _LAYOUT)
    time_ms, node, on = rows["time_ms"], rows["node"], rows["on"]
    backwards = np.flatnonzero(time_ms[1:] < time_ms[:-1])
    if len(backwards):
        row = int(backwards[0]) + 1
        line = line_of(path, _LAYOUT, row)
        raise OverlayError(f"{path}, line {line}: time {time_ms[row]} comes after {time_ms[row - 1]}; put the rows in order of time")
    if nodes is not None and len(strange := np.flatnonzero(node >= nodes)):
        line = line_of(path, _LAYOUT, int(strange[0]))
        raise OverlayError(
            f"{path}, line {line}: node {node[strange[0]]}, and the overlay has nodes 0 to {nodes - 1:,}; take such rows out, or more nodes"
        )
    if (found := _impossible(node, on)) is not None:
        row, why = found
        raise OverlayError(f"{path}, line {line_of(path, _LAYOUT, row)}: {why}")
    return ChurnTrace(time_ms, node, on)


def write_churn(path: Path, trace: ChurnTrace) -> None:
    """Writes a trace as `read_churn` reads it, packed if the name ends in .gz. The same trace gives the same bytes. Raises OSError."""
    columns = (trace.time_ms.tolist(), trace.node.tolist(), trace.on.tolist())
    rows = (f"{time_ms}\t{node}\t{on}\n" for time_ms, node, on in zip(*columns, strict=True))
    written = ("\t".join(_HEADER.split()) + "\n" + "".join(rows)).encode()
    path.write_bytes(gzip.compress(written, mtime=0) if path.suffix == ".gz" else written)


def from_stays(node: Array, begin_ms: Array, end_ms: Array, until_ms: int) -> ChurnTrace:
    """Returns the trace of stays, from 0 on: what was before is left out, as is what comes from `until_ms` on.

    `node`, `begin_ms`, `end_ms`: of each stay, in any order. Stays of a node that overlap or meet are one.
    """
    kept = (end_ms > 0) & (begin_ms < until_ms) & (end_ms > begin_ms)
    node, begin_ms, end_ms = _merged(node[kept], np.maximum(begin_ms[kept], 0), end_ms[kept])
    left = end_ms < until_ms
    time_ms, who = np.concatenate([begin_ms, end_ms[left]]), np.concatenate([node, node[left]])
    on = np.concatenate([np.ones(len(node), np.int64), np.zeros(int(left.sum()), np.int64)])
    order = np.lexsort((who, on, time_ms))
    return ChurnTrace(time_ms[order], who[order], on[order])


def _merged(node: Array, begin_ms: Array, end_ms: Array) -> tuple[Array, Array, Array]:
    """Returns stays that do not meet, in order of node and time."""
    order = np.lexsort((begin_ms, node))
    node, begin_ms, end_ms = node[order], begin_ms[order], end_ms[order]
    # Nodes are moved so far apart in time that the latest end so far is one of the same node.
    apart = (int(end_ms.max(initial=0)) + 1) * node
    latest = np.maximum.accumulate(end_ms + apart)
    first = np.concatenate([[True], begin_ms[1:] + apart[1:] > latest[:-1]])[: len(node)]
    last = np.concatenate([first[1:], [True]])[: len(node)]
    return node[first], begin_ms[first], (latest - apart)[last]


def _impossible(node: Array, on: Array) -> tuple[int, str] | None:
    """Returns the first row that cannot be true, and why; None if all can."""
    order = np.argsort(node, kind="stable")
    who, what = node[order], on[order]
    is_first = np.concatenate([[True], who[1:] != who[:-1]])
    before: NDArray[np.int64] = np.where(is_first, 0, np.concatenate([[0], what[:-1]]))
    wrong = np.flatnonzero(what == before)
    if not len(wrong):
        return None
    at = int(wrong[order[wrong].argmin()])
    row = int(order[at])
    if what[at]:
        return row, f"node {who[at]} comes, and is there already; take the row out, or let the node leave before"
    if is_first[at]:
        return row, f"node {who[at]} leaves, and has never come; give it a row with on = 1 before, at time 0 if it was always there"
    return row, f"node {who[at]} leaves, and has left already; take the row out, or let the node come before"
