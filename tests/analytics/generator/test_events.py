"""The stream of events: complete or thinned, in order of time."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from analytics.generator.events import chunks, publications
from analytics.generator.profile import DAY_MS, profile, rng, site_of
from analytics.generator.services import counts, others
from analytics.parts import as_table
from analytics.schema import SCHEMAS
from infra.kernel.trace import Service

SPOTIFY = profile("spotify", 0.01, 1)
TOPICS = np.arange(5, 105)
EVENTS = np.arange(100, dtype=np.int64) * 10
SITES = (TOPICS % 3).astype(np.uint8)


def stream(fraction: float, seed: int = 1, service: Service = "presence") -> pa.Table:
    return as_table(SCHEMAS["publications"], publications(SPOTIFY, service, TOPICS, EVENTS, SITES, fraction, rng(seed, "test")))


def test_every_event_is_there_once_in_order_of_time() -> None:
    found = stream(1)
    time_ms = found["time_ms"].to_numpy()
    assert np.bincount(found["topic"].to_numpy(), minlength=105)[5:].tolist() == EVENTS.tolist()
    assert np.all(np.diff(time_ms) >= 0)
    assert time_ms[0] >= SPOTIFY.start_ms
    assert time_ms[-1] < SPOTIFY.end_ms


def test_an_event_is_published_at_the_site_of_its_topic() -> None:
    found = stream(1)
    assert found["site"].to_pylist() == [SPOTIFY.sites[topic % 3] for topic in found["topic"].to_pylist()]


def test_the_moment_of_an_event_does_not_depend_on_its_topic() -> None:
    found = stream(1)
    low, high = (found["time_ms"].to_numpy()[chosen] for chosen in (found["topic"].to_numpy() < 75, found["topic"].to_numpy() >= 75))
    assert abs(np.median(low) - np.median(high)) < DAY_MS / 4


def test_a_sample_keeps_each_event_with_the_same_probability() -> None:
    """Binomial: within five standard deviations, for all and for the busiest topics alone."""
    topic = stream(0.1)["topic"].to_numpy()
    for kept, whole in ((len(topic), EVENTS.sum()), ((topic >= 95).sum(), EVENTS[90:].sum())):
        assert abs(kept - 0.1 * whole) < 5 * np.sqrt(0.09 * whole)


def test_the_same_stream_of_chance_gives_the_same_events() -> None:
    """WA-15"""
    assert stream(0.5).equals(stream(0.5))
    assert not stream(0.5).equals(stream(0.5, seed=2))


@pytest.mark.parametrize(
    ("service", "kinds"),
    [
        ("presence", {"play", "pause", "favourite"}),
        ("playlist", {"edit"}),
        ("artist", {"new-track", "new-album", "artist-playlist"}),
        ("social", {"friend-joined"}),
    ],
)
def test_each_service_has_kinds_of_its_own(service: Service, kinds: set[str]) -> None:
    found = stream(1, service=service)
    assert set(found["service"].to_pylist()) == {service}
    assert set(found["kind"].to_pylist()) == kinds


def test_presence_is_above_playlists_and_these_above_notifications_on_every_day() -> None:
    """WA-12, SB-57: by far the most publications are presence's; in a sample of 1 in 100 of the profile at 1/100."""
    events = np.full(SPOTIFY.topics, round(SPOTIFY.mean_events), np.int64)
    topics = np.arange(SPOTIFY.topics)
    presence = daily("presence", topics, events, site_of(SPOTIFY, topics))
    found = {name: counts(SPOTIFY, name, rng(1, name)) for name in others(SPOTIFY)}
    days = {name: daily(name, each.topic, each.events, each.site) for name, each in found.items()}
    assert np.all(presence > days["playlist"])
    assert np.all(days["playlist"] > days["artist"] + days["social"])
    assert presence.sum() > 0.5 * (presence.sum() + sum(each.sum() for each in days.values()))


def daily(service: Service, topics: NDArray[np.int64], events: NDArray[np.int64], sites: NDArray[np.uint8]) -> NDArray[np.int64]:
    found = publications(SPOTIFY, service, topics, events, sites, 0.01, rng(1, service))
    return np.bincount((found["time_ms"] - SPOTIFY.start_ms) // DAY_MS, minlength=10)


def test_a_profile_without_sites_has_tweets_of_unknown_site() -> None:
    found = publications(profile("twitter", 0.01, 1), "presence", TOPICS, EVENTS, SITES * 0, 1, rng(1, "test"))
    table = as_table(SCHEMAS["publications"], found)
    assert table["site"].null_count == len(table) == EVENTS.sum()
    assert set(table["kind"].to_pylist()) == {"tweet"}


@pytest.mark.parametrize("fraction", [1, 0.25])
def test_chunks_hold_all_topics_once_and_about_as_many_rows_as_wanted(fraction: float) -> None:
    found = chunks(EVENTS, fraction, 2000)
    assert np.concatenate([TOPICS[each] for each in found]).tolist() == TOPICS.tolist()
    assert all(EVENTS[each].sum() * fraction <= 2000 + EVENTS.max() for each in found)
    assert len(found) == np.ceil(EVENTS.sum() * fraction / 2000)


def test_there_is_one_chunk_of_few_topics_and_none_of_no_topics() -> None:
    assert chunks(EVENTS[:3], 1, 1000) == [slice(0, 3)]
    assert chunks(EVENTS[:0], 1, 1000) == []


def test_a_sample_may_be_empty() -> None:
    assert len(stream(0)) == 0
