"""How long bytes take in a simulated world."""

import random

from .loop import SimulatedLoop
from .network import FAR_S, NEAR_S, SLOW, SimulatedInternet


def test_what_is_slow_between_two_nodes_or_two_sites_is_slow_that_way_and_no_other() -> None:
    """DPS-31: two sites between which all was to be slow were as fast as ever."""
    loop = SimulatedLoop(random.Random(1))  # type: ignore[abstract]
    internet = SimulatedInternet(loop, random.Random(2))
    internet.slow = {("sto", "lon"): SLOW, ("ash/b1", "ash/a1"): SLOW}
    for source, target in (("sto/b1", "lon/b1"), ("sto/b2", "lon/ap1")):
        assert internet.delay_s(source, target) >= SLOW * FAR_S[0]
    assert internet.delay_s("ash/b1", "ash/a1") >= SLOW * NEAR_S[0]
    for source, target in (("lon/b1", "sto/b1"), ("sto/b1", "ash/b1")):
        assert internet.delay_s(source, target) <= FAR_S[1]
    for source, target in (("sto/b1", "sto/a1"), ("ash/a1", "ash/b1"), ("ash/b2", "ash/a1")):
        assert internet.delay_s(source, target) <= NEAR_S[1]
