"""Friendships: mutual, each once, mostly within a site."""

import numpy as np
import pytest

from analytics.generator import spotify
from analytics.generator.friends import friendships
from analytics.generator.profile import profile, site_of

PROFILE = profile("spotify", 0.01, 3)
SEQUENCES = spotify.sequences(PROFILE)


def test_a_friendship_is_there_once_in_both_directions_and_never_of_a_user_with_the_same_user() -> None:
    keys = friendships(PROFILE, SEQUENCES)
    one, other = np.divmod(keys, PROFILE.topics)
    assert (np.diff(keys) > 0).all()
    assert np.array_equal(np.sort(other * PROFILE.topics + one), keys)
    assert (one != other).all()


def test_a_publisher_has_as_many_friends_as_the_degrees_allow() -> None:
    friends = np.bincount(friendships(PROFILE, SEQUENCES) // PROFILE.topics, minlength=PROFILE.topics)
    allowed = np.minimum(SEQUENCES.popularity, SEQUENCES.size[: PROFILE.topics])
    assert (friends <= allowed).all()
    assert friends.sum() == pytest.approx(allowed.sum(), rel=0.1)


def test_friends_are_mostly_of_one_site() -> None:
    one, other = np.divmod(friendships(PROFILE, SEQUENCES), PROFILE.topics)
    assert 0.005 < (site_of(PROFILE, one) != site_of(PROFILE, other)).mean() < 0.05
