"""The schedule: a Poisson process whose users and artists come in proportion to the real plays."""

import random
from collections import Counter
from itertools import islice, pairwise

import pytest

from segue.demo.dataset import Dataset
from segue.demo.listening import TRACKS_PER_ARTIST, Play, schedule
from segue.demo.table import DatasetError

THREE = Dataset(
    friends={"a": ("b",), "b": ("a",), "silent": ()},
    plays={"a": ((1, 60), (2, 20)), "b": ((2, 20),), "silent": ()},
    artists={1: "One", 2: "Two"},
)


def plays(seed: int = 1, **options: float) -> list[Play]:
    return list(schedule(THREE, rng=random.Random(seed), **{"duration_s": 50.0, **options}))


def test_plays_come_in_order_and_end_before_the_duration() -> None:
    drawn = plays()
    assert all(earlier.at_s <= later.at_s for earlier, later in pairwise(drawn))
    assert drawn[0].at_s > 0
    assert drawn[-1].at_s < 50.0


def test_gaps_are_those_of_a_poisson_process_of_the_rate() -> None:
    gaps = [later.at_s - earlier.at_s for earlier, later in pairwise(plays(rate_per_s=200.0))]
    mean = sum(gaps) / len(gaps)
    variance = sum((gap - mean) ** 2 for gap in gaps) / len(gaps)
    assert mean == pytest.approx(1 / 200, rel=0.05)
    assert variance == pytest.approx(mean**2, rel=0.1)


def test_speed_plays_the_same_in_less_time() -> None:
    slow, fast = plays(duration_s=40.0), plays(duration_s=10.0, speed=4.0)
    assert [play[1:] for play in fast] == [play[1:] for play in slow]
    assert [play.at_s * 4 for play in fast] == pytest.approx([play.at_s for play in slow])


def test_users_and_artists_come_in_proportion_to_their_plays() -> None:
    drawn = Counter((play.user, play.artist_id) for play in plays(rate_per_s=400.0))
    total = drawn.total()
    assert set(drawn) == {("a", 1), ("a", 2), ("b", 2)}
    assert [drawn["a", 1] / total, drawn["a", 2] / total, drawn["b", 2] / total] == pytest.approx([0.6, 0.2, 0.2], abs=0.02)


def test_real_users_come_in_proportion_to_their_plays(lastfm: Dataset) -> None:
    drawn = Counter(play.user for play in islice(schedule(lastfm, duration_s=1e6, rng=random.Random(2)), 40_000))
    total = lastfm.total_plays()
    for user, count in Counter(total).most_common(20):
        assert drawn[user] / 40_000 == pytest.approx(count / sum(total.values()), rel=0.25)


def test_every_play_names_its_artist_and_a_track() -> None:
    drawn = plays()
    assert all(play.artist_name == THREE.artists[play.artist_id] for play in drawn)
    assert {play.track_no for play in drawn} == set(range(1, TRACKS_PER_ARTIST + 1))


def test_the_same_seed_gives_the_same_plays_and_another_seed_others() -> None:
    assert plays(seed=3) == plays(seed=3)
    assert plays(seed=3) != plays(seed=4)


def test_plays_are_drawn_only_as_far_as_they_are_asked_for() -> None:
    endless = schedule(THREE, duration_s=float("inf"), rng=random.Random(5))
    assert len(list(islice(endless, 10))) == 10


def test_a_duration_of_zero_has_no_plays() -> None:
    assert plays(duration_s=0.0) == []


@pytest.mark.parametrize("options", [{"speed": 0.0}, {"speed": -1.0}, {"rate_per_s": 0.0}])
def test_a_speed_or_rate_that_is_not_above_zero_is_refused_at_once(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must both be above 0"):
        schedule(THREE, duration_s=1.0, rng=random.Random(1), **options)


def test_data_without_plays_are_refused_at_once() -> None:
    silent = Dataset(friends={"a": ()}, plays={"a": ()}, artists={})
    with pytest.raises(DatasetError, match="no plays"):
        schedule(silent, duration_s=1.0, rng=random.Random(1))
