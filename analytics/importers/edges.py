"""Any edge list: one pair of follower and followed a row. Other columns, a header line and comments may be there as well."""

from pathlib import Path
from typing import Final

import numpy as np

from analytics.errors import TraceError

from .draft import Draft
from .edge_columns import EdgeOptions, find_columns
from .format import CHURN, EVENTS, IN_TIME, NOWHERE, Format, because
from .rows import Columns, Layout, first_row, read_rows

# Below it, sums of weights fit into 64 bits.
_PLENTY: Final = 10**12
_WEIGHTED: Final = {**NOWHERE, **because("weights have no times", (*IN_TIME, "days")), **because("edges have no times", CHURN)}


def read_edges(path: Path, wanted: EdgeOptions) -> Draft:
    """Reads the list at `path` as `wanted`. The weights of all rows that follow a topic are added up to its events.

    Raises TraceError that names the line.
    """
    if path.is_dir():
        raise TraceError(f"{path}: is a folder; name the file of the edges in it")
    found = find_columns(first_row(path), wanted)
    layout = Layout(
        tuple(found.places),
        below={"weight": _PLENTY} if wanted.weight else {},
        places=tuple(found.places.values()),
        delimiter=found.delimiter,
        skips_first=found.header,
    )
    return _drafted(read_rows(path, layout), wanted, found.note)


def _drafted(edges: Columns, wanted: EdgeOptions, note: str) -> Draft:
    draft = Draft()
    draft.notes.append(note)
    draft.follow(edges["src"], edges["dst"], mutual=wanted.undirected)
    if wanted.undirected:
        draft.notes.append("undirected: each edge is a subscription in both directions")
    if wanted.weight:
        # What follows a topic counts for it: with undirected edges both ends are topics.
        ends = ("src", "dst") if wanted.undirected else ("dst",)
        draft.total(np.concatenate([edges[end] for end in ends]), np.tile(edges["weight"], len(ends)))
        draft.notes.append("weights: those of all rows that follow a topic, added up, are its events")
        draft.limits = _WEIGHTED
    return draft


def _read(path: Path) -> Draft:
    return read_edges(path, EdgeOptions())


FORMAT: Final = Format(
    key="edges",
    path="a file with two numbers in each line, src and dst, or columns named by --src, --dst and --weight",
    becomes="a node is a topic, and src of an edge follows dst",
    source="an edge list; its publisher and citation are not in the file",
    pseudonymisation="nodes are the numbers of the file",
    read=_read,
    limits={
        **NOWHERE,
        **because("an edge list has no events", EVENTS),
        **because("edges have no times", CHURN),
    },
)
