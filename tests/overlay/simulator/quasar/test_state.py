"""Settings of Quasar that make no sense are refused, with what to give instead."""

from typing import Any

import pytest

from overlay.simulator.errors import OverlayError
from overlay.simulator.quasar.state import QuasarSettings


@pytest.mark.parametrize("setting", [{"filter_bytes": 0}, {"hashes": 0}, {"fresh": 0}, {"ttl": 0}, {"depth": -1}, {"branch": -1}])
def test_a_setting_that_makes_no_sense_is_named(setting: dict[str, Any]) -> None:
    with pytest.raises(OverlayError, match=f"{next(iter(setting))} is .*: give [01] or more"):
        QuasarSettings(**setting).check()


def test_the_defaults_are_those_of_the_paper_and_the_rulings() -> None:
    """Rulings Q2 to Q8."""
    settings = QuasarSettings()
    settings.check()
    assert (settings.filter_bytes, settings.depth, settings.branch, settings.ttl) == (512, 3, 5, 20)
