"""What the window adds to an event in the broker's core."""

import pytest

from bench.micro.recording import measure
from infra.kernel.topics import Kind


@pytest.mark.parametrize("kind", [Kind.USER, Kind.PLAYLIST])
def test_an_event_takes_time_in_the_core_and_more_with_a_window(kind: Kind) -> None:
    found = measure(kind, topics=500, events=5_000, rounds=5)
    assert 0 < found.without_us < found.with_us
