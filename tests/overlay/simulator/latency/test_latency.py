"""Latencies that kernels read: between hosts, drawn by link, and always the same."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from overlay.protocol.buffer import Buffer
from overlay.simulator.compiled import compiled
from overlay.simulator.errors import OverlayError
from overlay.simulator.graphs.reading import DATA
from overlay.simulator.latency.latency import MessageLatency, between_hosts, by_link, constant, one_way_us, planetlab, seattle

THREE = np.array([[5, 10, 20], [11, 6, 30], [21, 31, 7]], np.int32)


def took(latency: MessageLatency, sender: int, receiver: int) -> int:
    return one_way_us(latency.settings, latency.table_us, latency.host_of, latency.streams, sender, receiver)


def all_took(settings: Buffer, table_us: Buffer, host_of: Buffer, streams: Buffer, nodes: int, found: Buffer) -> None:
    """Writes how long a message takes between any two of `nodes`."""
    for sender in range(nodes):
        for receiver in range(nodes):
            found[sender * nodes + receiver] = one_way_us(settings, table_us, host_of, streams, sender, receiver)


def test_nodes_take_the_time_between_their_hosts() -> None:
    latency = between_hosts(THREE, 10, 1)
    hosts = latency.host_of.tolist()
    for sender in range(10):
        for receiver in range(10):
            assert took(latency, sender, receiver) == THREE[hosts[sender], hosts[receiver]]


def test_hosts_have_as_many_nodes_as_others_and_are_drawn_by_seed() -> None:
    """OV-2."""
    assert sorted(Counter(between_hosts(THREE, 11, 1).host_of.tolist()).values()) == [3, 4, 4]
    placed = [between_hosts(THREE, 11, seed).host_of.tolist() for seed in (1, 1, 2)]
    assert placed[0] == placed[1] != placed[2]
    few = {tuple(sorted(between_hosts(THREE, 2, seed).host_of.tolist())) for seed in range(20)}
    assert few == {(0, 1), (0, 2), (1, 2)}


def test_two_nodes_on_one_host_are_as_near_as_its_nearest_neighbour() -> None:
    latency = planetlab(980, 3)
    assert latency.hosts == 490
    one, other = np.flatnonzero(latency.host_of == 17)
    table = latency.table_us.reshape(490, 490)
    assert took(latency, int(one), int(other)) == np.delete(table[17], 17).min() > 0


def test_what_comes_along_fits_its_published_medians() -> None:
    """Half of 134.6 ms, and half of 0.22 s."""
    assert np.median(planetlab(10, 1).table_us) == pytest.approx(67_300, rel=0.01)
    assert np.median(seattle(10, 1).table_us) == pytest.approx(110_000, rel=0.01)


def test_a_link_takes_the_same_time_both_ways_and_each_time() -> None:
    latency = by_link(10, 150, seed=1)
    assert took(latency, 3, 8) == took(latency, 8, 3) == took(latency, 3, 8)


def test_links_are_drawn_evenly_between_the_bounds() -> None:
    """10 to 150 ms."""
    latency = by_link(10, 150, seed=1)
    times = np.array([took(latency, sender, receiver) for sender in range(100) for receiver in range(sender)])
    assert 10_000 <= times.min() < 10_200
    assert 149_800 < times.max() <= 150_000
    counts = np.histogram(times, bins=7, range=(10_000, 150_000))[0]
    assert abs(counts - len(times) / 7).max() < 5 * (len(times) / 7) ** 0.5


def test_jitter_makes_messages_later_by_a_share_at_most() -> None:
    """Up to 10 %."""
    plain, jittered = by_link(10, 150, seed=1), by_link(10, 150, jitter=0.1, seed=1)
    least = took(plain, 1, 2)
    times = [took(jittered, 1, 2) for _ in range(2000)]
    assert least <= min(times) < least * 1.002
    assert least * 1.098 < max(times) <= least * 1.1
    assert np.mean(times) == pytest.approx(least * 1.05, rel=0.01)


def test_a_constant_is_one() -> None:
    latency = constant(25)
    assert {took(latency, sender, receiver) for sender in range(5) for receiver in range(5)} == {25_000}


@pytest.mark.parametrize("make", [lambda: between_hosts(THREE, 20, 1), lambda: by_link(10, 150, jitter=0.1, seed=5)])
def test_compiled_and_interpreted_take_the_same_time(make: Callable[[], MessageLatency]) -> None:
    found, plain = np.zeros(400, np.int64), [0] * 400
    one, other = make(), make()
    compiled(all_took)(one.settings, one.table_us, one.host_of, one.streams, 20, found)
    all_took(other.settings.tolist(), other.table_us.tolist(), other.host_of.tolist(), other.streams.tolist(), 20, plain)
    assert found.tolist() == plain


def test_seeds_give_other_times() -> None:
    """OV-2."""
    assert took(by_link(10, 150, seed=1), 1, 2) != took(by_link(10, 150, seed=2), 1, 2)


@pytest.mark.parametrize(
    ("low", "high", "jitter", "told"), [(20, 10, 0, "smaller number first"), (-1, 5, 0, "give 0 to"), (1, 2, 1.5, "jitter 1.5")]
)
def test_numbers_that_make_no_sense_are_refused(low: float, high: float, jitter: float, told: str) -> None:
    with pytest.raises(OverlayError, match=told):
        by_link(low, high, jitter=jitter, seed=1)


def test_data_that_did_not_come_along_are_missed_by_their_path(tmp_path: Path) -> None:
    for make in (planetlab, seattle):
        with pytest.raises(OverlayError, match=f"{tmp_path}.*: is missing"):
            make(10, 1, tmp_path)
        assert make(10, 1, DATA).hosts > 90
