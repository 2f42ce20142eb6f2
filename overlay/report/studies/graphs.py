"""The graphs that overlays run on, beside real ones: how many topics and subscribers users have, and who knows whose friends."""

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analytics.planning.report.chart import Axis, Series, chart
from analytics.report.plot import Plot

from ...simulator.graphs.followers import followers
from ...simulator.graphs.friends import friends
from ...simulator.graphs.graph import SubscriptionGraph
from ...simulator.graphs.reading import carried
from ...simulator.graphs.sample import sample
from ...simulator.graphs.shape import Clustering, clustering
from ..study import OverlayStudy, StudyClaim, StudyResult, StudyScale, StudyTable

_USERS: Final[dict[StudyScale, int]] = {"tiny": 1000, "quick": 2000, "full": 10_000}
# The graph that a sample is cut from is so many times larger.
_TIMES: Final = 10
_LINES: Final = 120
_NOTE: Final = "In units of the mean of each graph, so that shapes of graphs of different means can be compared."
_SHARE: Final = "% of those who have as many or more"
_PUBLISHED: Final = "samples of 10,000 users, cut breadth-first from random seeds, have the same distributions as the whole of {}"
_JOINED: Final = "Joined pairs of neighbours"
# Of each table that is drawn: its title, and the label of its x.
_DRAWN: Final = {
    "friends-degrees": ("Friends of a user", "friends of a user, in means"),
    "friends-clustering": (_JOINED, "neighbours of a user"),
    "followers-subscribers": ("Subscribers of a topic", "subscribers of a topic, in means"),
    "followers-topics": ("Topics of a user", "topics of a user, in means"),
    "followers-clustering": (_JOINED, "neighbours of a user"),
}


class _Shown(NamedTuple):
    """A graph with its name in the key."""

    label: str
    graph: SubscriptionGraph
    shape: Clustering


def run(scale: StudyScale, seed: int, told: Callable[[str], None]) -> StudyResult:
    """Makes graphs, samples and reads real ones, and counts. Raises OverlayError where the real graphs did not come along."""
    users = _USERS[scale]
    told("friends beside Facebook and Last.fm")
    whole = friends(_TIMES * users, seed)
    two_way = _shown(
        (f"friends, {users:,} users", friends(users, seed)),
        ("Facebook, ten circles", carried("facebook")),
        ("Last.fm", carried("lastfm")),
        (f"sample of {users:,} of {_TIMES * users:,} friends", sample(whole, users, seed)),
    )
    told("followers beside votes of Wikipedia and Ciao")
    all_followers = followers(_TIMES * users, seed)
    one_way = _shown(
        (f"followers, {users:,} users", followers(users, seed)),
        ("votes of Wikipedia", carried("wiki-vote")),
        ("Ciao", carried("ciao")),
        (f"sample of {users:,} of {_TIMES * users:,} followers", sample(all_followers, users, seed)),
    )
    curves = {
        "friends-degrees": [(each.label, ccdf(each.graph.topics_of())) for each in two_way],
        "friends-clustering": [(each.label, _curve(each.shape)) for each in two_way],
        "followers-subscribers": [(each.label, ccdf(each.graph.subscribers_of())) for each in one_way],
        "followers-topics": [(each.label, ccdf(each.graph.topics_of())) for each in one_way],
        "followers-clustering": [(each.label, _curve(each.shape)) for each in one_way],
    }
    return StudyResult(
        tables=[_counts(two_way + one_way), *(_table(name, of) for name, of in curves.items())],
        claims=[
            _claim("Facebook", apart(whole.topics_of(), two_way[-1].graph.topics_of())),
            _claim("Twitter", apart(all_followers.subscribers_of(), one_way[-1].graph.subscribers_of())),
        ],
    )


def plots(result: StudyResult) -> list[Plot]:
    """Returns a plot for each of the curves."""
    return [_plot(result.table(name), *about) for name, about in _DRAWN.items()]


def ccdf(degrees: NDArray[np.int64]) -> list[tuple[float, float]]:
    """Returns degrees above 0 in units of their mean, and the percentage that are as great or greater: at most 120 points, by decade."""
    values, counts = np.unique(degrees[degrees > 0], return_counts=True)
    left = 100 * np.cumsum(counts[::-1])[::-1] / counts.sum()
    steps = np.geomspace(1, values[-1], _LINES)
    kept = np.unique(np.searchsorted(values, steps))
    mean = float(values @ counts / counts.sum())
    return list(zip((values[kept] / mean).tolist(), left[kept].tolist(), strict=True))


def apart(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """Returns the largest distance between two distributions of degrees above 0, each in units of its mean (Kolmogorov and Smirnov)."""
    first, second = (np.sort(each[each > 0] / each[each > 0].mean()) for each in (one, other))
    places = np.concatenate([first, second])
    shares = [np.searchsorted(each, places, side="right") / len(each) for each in (first, second)]
    return float(np.abs(shares[0] - shares[1]).max())


def _shown(*graphs: tuple[str, SubscriptionGraph]) -> list[_Shown]:
    return [_Shown(label, graph, clustering(graph)) for label, graph in graphs]


def _curve(shape: Clustering) -> list[tuple[float, float]]:
    degrees, shares = shape.by_degree()
    return list(zip(degrees.tolist(), shares.tolist(), strict=True))


def _counts(shown: Iterable[_Shown]) -> StudyTable:
    head = ("graph", "users", "pairs", "most topics", "most subscribers", "clustering, mean", "transitivity")
    return StudyTable(name="graphs", head=head, rows=[_row(each) for each in shown])


def _row(shown: _Shown) -> tuple[float | str, ...]:
    graph, shape = shown.graph, shown.shape
    most = (int(graph.topics_of().max()), int(graph.subscribers_of().max()))
    return (shown.label, graph.users, graph.pairs, *most, shape.mean, shape.transitivity)


def _table(name: str, curves: list[tuple[str, list[tuple[float, float]]]]) -> StudyTable:
    head = ("graph", "neighbours", "share of joined pairs") if "clustering" in name else ("graph", "in means", "percent with as many")
    return StudyTable(name=name, head=head, rows=[(label, *point) for label, points in curves for point in points])


def _claim(whole: str, distance: float) -> StudyClaim:
    return StudyClaim(
        requirement="P2P-18",
        published=_PUBLISHED.format(whole),
        demanded="the distributions of the whole and of the sample are told",
        measured=f"{100 * distance:.1f} points apart at most, in units of their means; the whole is made here, ten times as large",
        holds=None,
    )


def _plot(table: StudyTable, title: str, x: str) -> Plot:
    series = [
        Series(str(label), [(float(row[1]), float(row[2])) for row in rows], style)
        for style, (label, rows) in enumerate(groupby(table.rows, key=lambda row: row[0]))
    ]
    if "clustering" in table.name:
        axes = Axis(x, True, least=2), Axis("share of their pairs that are joined", least=0, most=1)
        return chart(f"graphs-{table.name}", title, *axes, series)
    return chart(f"graphs-{table.name}", title, Axis(x, True), Axis(_SHARE, True), series, (_NOTE,))


GRAPHS: Final = OverlayStudy("graphs", "The graphs, beside real ones", "PolderCast figure 4, thesis figure 3.4", run, plots)
