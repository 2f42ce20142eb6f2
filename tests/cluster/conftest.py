"""Every test of a whole cluster runs on the memory link and on real TCP."""

import pytest


@pytest.fixture(params=[False, True], ids=["memory", "tcp"])
def tcp(request: pytest.FixtureRequest) -> bool:
    """Returns whether links are real TCP."""
    return bool(request.param)
