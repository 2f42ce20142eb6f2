"""Pairs: both degree sequences hold, and nothing is there twice."""

import numpy as np
import pytest

from analytics.generator.pairs import chunks
from analytics.generator.profile import Name, profile, site_of
from tests.support.generated import Drawn, drawn


@pytest.fixture(scope="module", params=["spotify", "twitter"])
def found(request: pytest.FixtureRequest) -> Drawn:
    name: Name = request.param
    return drawn(name, 0.01 if name == "spotify" else 0.001, 5, pairs_per_chunk=200_000)


def test_no_pair_is_there_twice_and_nobody_follows_themselves(found: Drawn) -> None:
    keys = found.subscriber * found.profile.topics + found.topic
    assert (np.diff(keys) > 0).all()
    assert (found.subscriber != found.topic).all()


def test_all_pairs_are_placed_and_every_subscriber_has_the_right_number_of_topics(found: Drawn) -> None:
    """WA-15: the mean number of topics of a subscriber is that of the sequences."""
    assert found.dropped <= found.profile.pairs * 1e-4
    assert len(found.topic) == found.profile.pairs - found.dropped
    assert np.abs(found.size - found.sequences.size).sum() == found.dropped


def test_topics_have_their_popularity_but_for_the_few_that_no_exchange_could_place(found: Drawn) -> None:
    """WA-10, WA-11: what holds for the sequences of the Twitter profile holds for its pairs.

    In a small trace a site may have fewer topics than one of its users follows: then topics of other sites are taken.
    """
    assert np.abs(found.popularity - found.sequences.popularity).sum() < 0.05 * found.profile.pairs
    top = np.argsort(found.sequences.popularity)[-20:]
    assert found.popularity[top] == pytest.approx(found.sequences.popularity[top], rel=0.15)


def test_chunks_hold_all_subscribers_once_and_each_is_of_one_site() -> None:
    wanted = profile("spotify", 0.01, 1)
    found = chunks(wanted, 10_000)
    assert [each.number for each in found] == list(range(len(found)))
    assert np.array_equal(np.concatenate([np.arange(each.first, each.last) for each in found]), np.arange(wanted.subscribers))
    assert all(len(np.unique(site_of(wanted, np.arange(each.first, each.last)))) == 1 for each in found)
    assert len(found) >= 12
