"""Bytes of the parts of messages."""

from overlay.simulator.sizes import EVENT, entry, profile


def test_a_profile_is_an_address_an_id_and_its_topics_with_priorities() -> None:
    assert (profile(0), profile(1), profile(16)) == (14, 23, 158)
    assert entry(16) == profile(16) + 2


def test_an_event_is_larger_than_what_it_carries() -> None:
    assert EVENT == 32 + 8 + 8 + 200
