"""An overlay that tests of this folder share, so that it converges once."""

import pytest

from overlay.simulator.graphs.friends import friends
from overlay.simulator.poldercast.overlay import PolderCastOverlay
from overlay.simulator.workload import OverlayWorkload


@pytest.fixture(scope="session")
def circle() -> OverlayWorkload:
    """400 friends: 6,400 pairs."""
    return friends(400, 1).workload()


@pytest.fixture(scope="session")
def converged(circle: OverlayWorkload) -> PolderCastOverlay:
    """An overlay whose rings are complete. Tests publish in it, and change nothing."""
    system = PolderCastOverlay(circle, 5)
    while system.rings().missing.any():
        system.run(5)
    return system
