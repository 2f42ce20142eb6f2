"""Random numbers of the world: one stream for each purpose, the same on every machine."""

import numpy as np

from overlay.protocol.chance import below, draw
from overlay.simulator.draws import Draws, Stream, fill


def test_the_numbers_are_those_of_an_interpreted_stream() -> None:
    """OV-2."""
    streams = [0]
    streams[0] = int(Draws(7, Stream.CHURN).state[0])
    plain = [0] * 50
    fill(streams, 0, plain, 50)
    draws = Draws(7, Stream.CHURN)
    assert (draws.uniform(50) == [(each + 0.5) / 2**32 for each in plain]).all()
    assert draw(streams, 0) == draw(draws.state, 0)


def test_streams_and_seeds_differ() -> None:
    begins = {tuple(Draws(seed, stream).uniform(3)) for seed in (1, 2) for stream in Stream}
    assert len(begins) == 2 * len(Stream)


def test_uniform_numbers_fill_the_unit_evenly() -> None:
    drawn = Draws(3, Stream.HOSTS).uniform(100_000)
    assert drawn.min() > 0
    assert drawn.max() < 1
    counts = np.bincount((drawn * 10).astype(int), minlength=10)
    assert abs(counts - 10_000).max() < 400  # four standard deviations


def test_values_are_shuffled_and_none_is_lost() -> None:
    values = np.arange(10, 40)
    drawn = Draws(3, Stream.DROP).shuffled(values)
    assert sorted(drawn.tolist()) == values.tolist()
    assert drawn.tolist() != values.tolist()
    assert values.tolist() == list(range(10, 40))


def test_an_order_is_that_of_an_interpreted_shuffle() -> None:
    streams, items = [int(Draws(5, Stream.HOSTS).state[0])], list(range(20))
    for place in range(20):
        other = place + below(streams, 0, 20 - place)
        items[place], items[other] = items[other], items[place]
    assert Draws(5, Stream.HOSTS).order(20).tolist() == items


def test_some_are_a_random_part_in_rising_order() -> None:
    draws = Draws(5, Stream.DEATH)
    found = draws.some(np.arange(100, 200), 10)
    assert len(set(found.tolist())) == 10
    assert (np.diff(found) > 0).all()
    assert found.min() >= 100
    assert draws.some(np.arange(3), 10).tolist() == [0, 1, 2]
