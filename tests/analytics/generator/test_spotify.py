"""The Spotify profile against the published figures, counted here from its pairs at 1/100 of the size.

Thresholds in percent of all events grow as the number of topics falls (spec A5.4).
"""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import spearmanr

from analytics.generator import spotify
from analytics.generator.profile import profile, site_of
from tests.support.generated import Drawn, drawn

SCALE = 0.01


@pytest.fixture(scope="module")
def found() -> Drawn:
    return drawn("spotify", SCALE, 7)


def ccdf(values: NDArray[np.int64], points: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns log10 x, evenly spaced from the least to the greatest value, and log10 P(X >= x)."""
    x = np.geomspace(values.min(), values.max(), points)
    beyond = len(values) - np.searchsorted(np.sort(values), x * (1 - 1e-12))
    return np.log10(x), np.log10(beyond / len(values))


def residual(x: NDArray[np.float64], y: NDArray[np.float64], *columns: NDArray[np.float64]) -> float:
    design = np.column_stack([np.ones_like(x), x, *columns])
    return float(np.sum((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2))


def one_percent(found: Drawn) -> float:
    """Returns one percent of all events of a trace of full size."""
    return float(found.events.sum()) / 100 / SCALE


@pytest.mark.parametrize("what", ["popularity", "size"])
def test_popularity_and_size_are_straight_over_three_decades(found: Drawn, what: str) -> None:
    """WA-5 (thesis 5.1.1, figures 5.1 and 5.2)."""
    values: NDArray[np.int64] = getattr(found, what)
    x, y = ccdf(values[values > 0], 40)
    assert x[-1] - x[0] >= 3
    assert 1 - residual(x, y) / np.sum((y - y.mean()) ** 2) >= 0.97


def test_the_event_rate_is_no_power_law_and_breaks_at_the_limit_of_human_listening(found: Drawn) -> None:
    """WA-6 (thesis 5.1.1, figure 5.3): curved downwards, significantly, with a break at 0.0005 %."""
    x, y = ccdf(found.events, 100)
    curvature, covariance = np.polyfit(x, y, 2, cov=True)
    assert curvature[0] < -5 * np.sqrt(covariance[0][0])
    at = min(x[5:-5], key=lambda at: residual(x, y, np.maximum(x - at, 0)))
    assert 0.00025 <= 10**at / one_percent(found) <= 0.001


def test_nearly_all_subscribers_get_a_small_share_of_all_events(found: Drawn) -> None:
    """WA-7 (thesis 5.1.1, figure 5.4): > 90 % below 0.001 %, least about 10^-7 %."""
    shares = found.received / one_percent(found)
    assert np.mean(shares < 0.001) > 0.9
    assert 10**-7.5 <= np.min(shares) <= 10**-6.5


def test_the_greatest_subscriber_gets_up_to_a_hundredth_of_all_events() -> None:
    """WA-7 at full size: whoever has most topics, of mean rate, gets 0.1-1 % of all events."""
    whole = profile("spotify", 1, 7)
    sequences = spotify.sequences(whole)
    assert 0.1 <= 100 * sequences.size.max() / whole.topics <= 1


def test_what_a_subscriber_gets_is_proportional_to_the_number_of_topics(found: Drawn) -> None:
    """WA-8 (thesis 5.1.1, figure 5.5)."""
    sizes, group = np.unique(found.size, return_inverse=True)
    means = np.bincount(group, weights=found.received) / np.bincount(group)
    assert np.polyfit(np.log10(sizes), np.log10(means), 1)[0] == pytest.approx(1, abs=0.1)


def test_popularity_says_nothing_of_the_event_rate(found: Drawn) -> None:
    """WA-9 (thesis 5.1.1, figure 5.6)."""
    assert abs(spearmanr(found.popularity, found.events).statistic) <= 0.05


def test_remote_publications_are_a_tenth_of_the_local_ones(found: Drawn) -> None:
    """WA-13, SB-27 (thesis 5.1.2, figure 5.8): remote is, for each other site, at least one subscriber there."""
    reached = np.zeros((found.profile.topics, len(found.profile.sites)), np.bool_)
    reached[found.topic, site_of(found.profile, found.subscriber)] = True
    topics = np.arange(found.profile.topics)
    local = reached[topics, site_of(found.profile, topics)]
    remote = reached.sum(axis=1) - local
    assert 0.05 <= (remote * found.events).sum() / (local * found.events).sum() <= 0.2


def test_many_links_are_mutual(found: Drawn) -> None:
    """Spec B: friends are mutual, so all that publishers follow is; that is about 22 % of the pairs."""
    keys = found.subscriber * found.profile.topics + found.topic
    between = found.subscriber < found.profile.topics
    back = found.topic[between] * found.profile.topics + found.subscriber[between]
    assert 0.15 <= np.isin(back, keys).sum() / len(keys) <= 0.3


@pytest.mark.parametrize("scale", [0.01, 0.1])
def test_means_are_those_published(scale: float) -> None:
    """WA-15: 2.45 topics of a subscriber, 10.9 subscribers of a topic, 2763 events of a topic, each within 2 %."""
    sequences = spotify.sequences(profile("spotify", scale, 11))
    means = (sequences.size.mean(), sequences.popularity.mean(), sequences.events.mean())
    assert means == pytest.approx((12 / 4.9, 12 / 1.1, 2763), rel=0.02)
