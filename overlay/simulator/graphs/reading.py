"""Graphs that are read: of a trace, of a published data set, of an edge list, and of those that come with the project."""

from pathlib import Path
from typing import Final

import numpy as np

from analytics.errors import TraceError
from analytics.importers.edge_columns import EdgeOptions
from analytics.importers.edges import read_edges
from analytics.importers.formats import FORMATS
from analytics.planning.tables import dataset, matching
from analytics.trace import Trace
from infra.kernel.manifest import MANIFESTS
from infra.kernel.trace import SOCIAL_SERVICES, Service

from ..errors import OverlayError
from .graph import SubscriptionGraph, graph_of

DATA: Final = Path(__file__).resolve().parents[3] / "examples" / "data"
_UNDIRECTED: Final = EdgeOptions(undirected=True)
# Real graphs that lie in DATA: file or folder, and the name of its form.
_CARRIED: Final = {
    "facebook": ("facebook/facebook_combined.txt.gz", "edges"),
    "wiki-vote": ("wiki-vote/wiki-Vote.txt.gz", "edges"),
    "ciao": ("ciao", "ciao"),
    "lastfm": ("lastfm", "lastfm"),
}
CARRIED: Final = tuple(_CARRIED)


def carried(name: str, data: Path = DATA) -> SubscriptionGraph:
    """Returns one of the real graphs that come with the project: `CARRIED` has their names.

    `data`: the folder that they lie in. Raises OverlayError if it is not there.
    """
    if name not in _CARRIED:
        raise OverlayError(f"there is no graph {name!r}; say {', '.join(CARRIED)}, or name a file or folder")
    place, form = _CARRIED[name]
    if not (data / place).exists():
        raise OverlayError(f"{data / place}: is missing; only a checkout of the project has it. Name a file or folder of your own instead")
    return read_graph(data / place, form, undirected=name == "facebook")


def read_graph(path: Path, form: str = "", *, undirected: bool = False, service: Service = "presence") -> SubscriptionGraph:
    """Returns the subscriptions at `path`.

    - `form`: the form of a published data set, one of `analytics.importers.formats.FORMATS`. Without it, `path` is the folder of a trace,
      or a file that is an edge list: in each line who follows, and whom. It may be packed by gzip.
    - `undirected`: each edge of the list goes both ways.
    - `service`: whose subscriptions of a trace are read.

    Raises TraceError and OverlayError, which name the file and the row, and say what to do.
    """
    if form and form not in FORMATS:
        raise OverlayError(f"there is no form {form!r}; say {', '.join(FORMATS)}, or nothing for a trace or a list of edges")
    if undirected and (form or "edges") != "edges":
        raise OverlayError(f"{path}: {form} says itself which way its rows go; only edges can be undirected")
    if not path.exists():
        raise OverlayError(f"{path}: there is no such file or folder; name a trace, a list of edges, or one of {', '.join(CARRIED)}")
    if path.is_dir() and not form:
        return _of_trace(path, service)
    return _of_files(path, form or "edges", undirected=undirected)


def _of_trace(path: Path, service: Service) -> SubscriptionGraph:
    if not any(path.glob(MANIFESTS)):
        known = ", ".join(FORMATS)
        raise OverlayError(f"{path}: is no trace, because it has no manifest; if it holds a published data set, say its form: {known}")
    trace = Trace.open(path)
    table, wanted = "subscriptions", {"service": str(service)}
    if not trace.has(table):
        table, wanted = "subscription_log", wanted | {"action": "subscribe"}
    parts = list(matching(dataset(trace, table), ["subscriber", "topic"], wanted))
    pairs = [np.concatenate([part[name].to_numpy() for part in parts]) if parts else np.empty(0) for name in ("subscriber", "topic")]
    if not len(pairs[0]):
        raise TraceError(f"{path}: nobody subscribes to a topic of {service}; name another service or another trace")
    return graph_of(*pairs, is_social=service in SOCIAL_SERVICES)


def _of_files(path: Path, form: str, *, undirected: bool) -> SubscriptionGraph:
    draft = read_edges(path, _UNDIRECTED) if undirected else FORMATS[form].read(path)
    table = draft.tables.get("subscriptions")
    if table is None:
        raise OverlayError(f"{path}: {form} says nothing about who follows whom; choose another data set")
    if not len(table["subscriber"]):
        raise OverlayError(f"{path}: no subscription is left of its rows ({'; '.join(draft.notes)}); is this the right file?")
    return graph_of(table["subscriber"], table["topic"], is_social=set(table["service"].unique().to_pylist()) <= set(SOCIAL_SERVICES))
