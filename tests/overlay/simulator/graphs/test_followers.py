"""The graph of followers: one-way, in communities, a power law of followers, and near real ones."""

import numpy as np
import pytest

from overlay.simulator.draws import Draws, Stream
from overlay.simulator.errors import OverlayError
from overlay.simulator.graphs import followers as module
from overlay.simulator.graphs.followers import follow, followers, weighed
from overlay.simulator.graphs.graph import SubscriptionGraph
from overlay.simulator.graphs.reading import carried
from overlay.simulator.graphs.shape import clustering
from tests.support.degree_shapes import apart, tail


@pytest.fixture(scope="module")
def published() -> SubscriptionGraph:
    """The graph of the size of PolderCast's samples (PC 6)."""
    return followers(10_000, 1)


def pairs(graph: SubscriptionGraph) -> set[tuple[int, int]]:
    return set(zip(graph.subscriber.tolist(), graph.topic.tolist(), strict=True))


def test_each_user_follows_16_in_the_mean_each_once_and_never_themselves(published: SubscriptionGraph) -> None:
    assert published.pairs == len(pairs(published)) == 160_000
    assert published.topics_of().min() == 1
    assert (published.subscriber != published.topic).all()


def test_most_follow_one_way(published: SubscriptionGraph) -> None:
    """Of the votes of Wikipedia 6 % are returned."""
    found = pairs(published)
    assert sum((topic, subscriber) in found for subscriber, topic in found) < 0.1 * len(found)


def test_a_seed_gives_the_same_bytes_and_another_seed_gives_others() -> None:
    """OV-2."""
    once, again, other = followers(1000, 5), followers(1000, 5), followers(1000, 6)
    assert once.subscriber.tobytes() + once.topic.tobytes() == again.subscriber.tobytes() + again.topic.tobytes()
    assert pairs(once) != pairs(other)


def test_compiled_and_interpreted_follow_the_same() -> None:
    draws = Draws(4, Stream.FOLLOWERS)
    names = draws.order(1000)
    homes, weights = module._homes(1000, draws), draws.shuffled(module._weights(1000))
    sizes = module._spread(module._sizes(1000), homes, draws)
    topic = [0] * int(sizes.sum())
    heavier = [0, *np.cumsum(weights).tolist()]
    follow([int(draws.state[0])], 0, sizes.tolist(), homes.tolist(), heavier, 20, 10, [-1] * 1000, topic)
    interpreted = set(zip(names[np.repeat(np.arange(1000), sizes)].tolist(), names[topic].tolist(), strict=True))
    assert pairs(followers(1000, 4)) == interpreted


def test_users_are_chosen_by_their_weight() -> None:
    streams, counts = [int(Draws(1, Stream.FOLLOWERS).state[0])], [0] * 5
    for _ in range(20_000):
        counts[weighed(streams, 0, [0, 100, 101, 103, 106, 110], 1, 5)] += 1
    assert counts[0] == 0
    assert np.array(counts[1:]) / 2000 == pytest.approx([1, 2, 3, 4], rel=0.1)


def test_followers_have_the_power_law_of_twitter(published: SubscriptionGraph) -> None:
    """Kwak et al. 2010: P(x) falls as x^-2.276."""
    subscribers = published.subscribers_of()
    assert tail(subscribers).alpha == pytest.approx(2.3, abs=0.15)
    assert 1000 <= subscribers.max() <= 2000


@pytest.mark.parametrize(("name", "topics", "subscribers"), [("ciao", 0.08, 0.22), ("wiki-vote", 0.3, 0.3)])
def test_the_shape_of_degrees_is_near_real_one_way_graphs(
    published: SubscriptionGraph, name: str, topics: float, subscribers: float
) -> None:
    real = carried(name)
    assert apart(published.topics_of(), real.topics_of()) <= topics
    assert apart(published.subscribers_of(), real.subscribers_of()) <= subscribers


def test_clustering_is_that_of_real_one_way_graphs(published: SubscriptionGraph) -> None:
    found = clustering(published)
    low, high = clustering(carried("wiki-vote")), clustering(carried("ciao"))
    assert low.mean <= found.mean <= high.mean
    assert found.transitivity == pytest.approx(low.transitivity, abs=0.05)


def test_subscribers_of_a_topic_share_more_topics_than_chance_makes_them(published: SubscriptionGraph) -> None:
    """PC 4.1: what follows from this is that one link serves several topics."""
    mixed = SubscriptionGraph(published.subscriber, Draws(1, Stream.SAMPLE).shuffled(published.topic), 10_000, 10_000, is_social=True)
    assert shared(published) > 2 * shared(mixed)


def shared(graph: SubscriptionGraph) -> float:
    """Returns how many topics two random subscribers of a topic with few share besides, in the mean."""
    order = np.argsort(graph.topic, kind="stable")
    topic, who = graph.topic[order], graph.subscriber[order]
    of: dict[int, set[int]] = {}
    for subscriber, each in pairs(graph):
        of.setdefault(subscriber, set()).add(each)
    few = graph.subscribers_of() <= 50
    # Subscribers who stand side by side: those of a topic are in order of their numbers, which are random.
    places = [place for place in range(0, len(topic) - 1, 20) if topic[place] == topic[place + 1] and few[topic[place]]]
    return float(np.mean([len(of[int(who[place])] & of[int(who[place + 1])]) - 1 for place in places]))


@pytest.mark.slow
def test_ten_times_the_published_size_has_the_same_shape(published: SubscriptionGraph) -> None:
    large = followers(100_000, 1)
    assert large.pairs == 1_600_000
    assert apart(large.topics_of(), published.topics_of()) < 0.03
    assert apart(large.subscribers_of(), published.subscribers_of()) < 0.08
    assert clustering(large).mean == pytest.approx(clustering(published).mean, rel=0.2)


def test_too_few_users_are_refused_with_the_least_number() -> None:
    with pytest.raises(OverlayError, match="999 users: too few for a graph of followers; ask for 1,000 or more"):
        followers(999, 1)
