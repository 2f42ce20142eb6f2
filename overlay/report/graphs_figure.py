"""The graphs that overlays run on, beside real ones: how many topics and subscribers users have, and who knows whose friends."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analytics.numbers import number
from analytics.planning.report.chart import Axis, Series, chart
from analytics.planning.report.figure import FigureSection
from analytics.planning.report.sheet import Sheet
from analytics.report.plot import Plot

from ..simulator.graphs.followers import followers
from ..simulator.graphs.friends import friends
from ..simulator.graphs.graph import SubscriptionGraph
from ..simulator.graphs.reading import carried
from ..simulator.graphs.sample import sample
from ..simulator.graphs.shape import Clustering, clustering

USERS: Final = 10_000
# The graph that a sample is cut from is so many times larger.
_TIMES: Final = 10
_LINES: Final = 120
_NOTE: Final = "In units of the mean of each graph, so that shapes of graphs of different means can be compared."
_SHARE: Final = "% of those who have as many or more"


class _Shown(NamedTuple):
    """A graph with its name in the key."""

    label: str
    graph: SubscriptionGraph
    shape: Clustering


def graph_figures(seed: int, users: int = USERS) -> list[FigureSection]:
    """Returns the figures of friends and of followers, each with the numbers behind it.

    `users`: of the graphs that are made. Raises OverlayError where the real graphs did not come along.
    """
    two_way = _shown(
        (f"friends, {users:,} users", friends(users, seed)),
        ("Facebook, ten circles", carried("facebook")),
        ("Last.fm", carried("lastfm")),
        (f"sample of {users:,} of {_TIMES * users:,} friends", sample(friends(_TIMES * users, seed), users, seed)),
    )
    one_way = _shown(
        (f"followers, {users:,} users", followers(users, seed)),
        ("votes of Wikipedia", carried("wiki-vote")),
        ("Ciao", carried("ciao")),
        (f"sample of {users:,} of {_TIMES * users:,} followers", sample(followers(_TIMES * users, seed), users, seed)),
    )
    told = "samples of 10,000 users have the same distributions as the whole of Facebook and Twitter"
    return [
        FigureSection(
            "friends",
            "Friends beside real friends",
            "3.4",
            (_degrees("friends", "Friends of a user", two_way, subscribers=False), _clustered("friends", two_way)),
            told,
            _sheet(two_way),
        ),
        FigureSection(
            "followers",
            "Followers beside real followers",
            "3.4",
            (
                _degrees("subscribers", "Subscribers of a topic", one_way, subscribers=True),
                _degrees("topics", "Topics of a user", one_way, subscribers=False),
                _clustered("followers", one_way),
            ),
            told,
            _sheet(one_way),
        ),
    ]


def _shown(*graphs: tuple[str, SubscriptionGraph]) -> list[_Shown]:
    return [_Shown(label, graph, clustering(graph)) for label, graph in graphs]


def _degrees(name: str, title: str, shown: list[_Shown], *, subscribers: bool) -> Plot:
    lines = [each.graph.subscribers_of() if subscribers else each.graph.topics_of() for each in shown]
    series = [Series(each.label, ccdf(line), style) for style, (each, line) in enumerate(zip(shown, lines, strict=True))]
    return chart(f"graphs-{name}", title, Axis(f"{title.lower()}, in means", True), Axis(_SHARE, True), series, (_NOTE,))


def _clustered(name: str, shown: list[_Shown]) -> Plot:
    series = [Series(each.label, _curve(each.shape), style) for style, each in enumerate(shown)]
    title = "Joined pairs of neighbours"
    x, y = Axis("neighbours of a user", True, least=2), Axis("share of their pairs that are joined", least=0, most=1)
    return chart(f"graphs-{name}-clustering", title, x, y, series)


def _curve(shape: Clustering) -> list[tuple[float, float]]:
    degrees, shares = shape.by_degree()
    return list(zip(degrees.tolist(), shares.tolist(), strict=True))


def ccdf(degrees: NDArray[np.int64]) -> list[tuple[float, float]]:
    """Returns degrees above 0 in units of their mean, and the percentage that are as great or greater: at most 120 points, by decade."""
    values, counts = np.unique(degrees[degrees > 0], return_counts=True)
    left = 100 * np.cumsum(counts[::-1])[::-1] / counts.sum()
    steps = np.geomspace(1, values[-1], _LINES)
    kept = np.unique(np.searchsorted(values, steps))
    mean = float(values @ counts / counts.sum())
    return list(zip((values[kept] / mean).tolist(), left[kept].tolist(), strict=True))


def _sheet(shown: list[_Shown]) -> Sheet:
    head = ("graph", "users", "pairs", "most topics", "most subscribers", "clustering, mean", "transitivity")
    return Sheet("Graphs", head, [_row(each) for each in shown])


def _row(shown: _Shown) -> tuple[str, ...]:
    graph = shown.graph
    counts = (graph.users, graph.pairs, int(graph.topics_of().max()), int(graph.subscribers_of().max()))
    return (shown.label, *map(number, counts), f"{shown.shape.mean:.3f}", f"{shown.shape.transitivity:.3f}")
