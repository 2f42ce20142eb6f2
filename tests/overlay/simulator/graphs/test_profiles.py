"""The generator's profiles as graphs."""

from pathlib import Path

import pytest

from analytics.errors import TraceError
from analytics.generator.job import generate
from analytics.generator.profile import profile
from overlay.simulator.graphs.profiles import profile_graph
from overlay.simulator.graphs.reading import read_graph


def test_the_pairs_are_those_of_the_generated_trace(tmp_path: Path) -> None:
    about = profile("spotify", 0.0002, 3)
    generate(tmp_path / "trace", about, publications=0, sessions=0, processes=1, progress=lambda *_: None)
    read, made = read_graph(tmp_path / "trace"), profile_graph("spotify", 0.0002, 3)
    assert made.pairs == read.pairs > 2000
    assert (made.subscriber == read.subscriber).all()
    assert (made.topic == read.topic).all()


def test_a_profile_that_is_too_small_is_refused() -> None:
    with pytest.raises(TraceError, match="scale"):
        profile_graph("spotify", 1e-6, 1)
