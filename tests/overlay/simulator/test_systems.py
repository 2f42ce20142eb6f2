"""The systems by name."""

import pytest

from overlay.simulator.errors import OverlayError
from overlay.simulator.systems import SYSTEMS, new_system
from segue.cli.overlay.source import SYSTEM_NAMES
from tests.support.even_workload import even_workload


def test_commands_know_all_systems() -> None:
    assert SYSTEM_NAMES == SYSTEMS


def test_a_name_that_is_none_is_refused_with_those_that_are() -> None:
    with pytest.raises(OverlayError, match="there is no overlay 'chord'; say poldercast, scribe, "):
        new_system("chord", even_workload(nodes=5, topics=2, each=1, seed=1), 1)
