"""Any edge list: `src dst` per line, comments begin with #."""

from pathlib import Path
from typing import Final

from analytics.errors import TraceError

from .draft import Draft
from .format import CHURN, EVENTS, NOWHERE, Format, because
from .rows import Columns, Layout, read_rows

_EDGES: Final = Layout(("src", "dst"))


def both_ways(path: Path) -> Draft:
    """The list at `path`, each edge read in both directions."""
    draft, edges = Draft(), _rows(path)
    draft.follow(edges["src"], edges["dst"], mutual=True)
    draft.notes.append("undirected: each edge is a subscription in both directions")
    return draft


def _read(path: Path) -> Draft:
    draft, edges = Draft(), _rows(path)
    draft.follow(edges["src"], edges["dst"])
    return draft


def _rows(path: Path) -> Columns:
    if path.is_dir():
        raise TraceError(f"{path}: is a folder; name the file of the edges in it")
    return read_rows(path, _EDGES)


FORMAT: Final = Format(
    key="edges",
    path="a file with two numbers in each line, src and dst",
    becomes="a node is a topic, and src of an edge follows dst",
    source="an edge list; its publisher and citation are not in the file",
    pseudonymisation="nodes are the numbers of the file",
    read=_read,
    limits={
        **NOWHERE,
        **because("an edge list has no events", EVENTS),
        **because("edges have no times", CHURN),
    },
    may_be_undirected=True,
)
