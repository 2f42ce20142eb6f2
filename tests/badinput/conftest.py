"""Every test here ends with a bystander who has noticed nothing."""

from collections.abc import AsyncIterator

import pytest

from tests.support.bystander import Watched


@pytest.fixture
async def place() -> AsyncIterator[Watched]:
    """Yields a site with a bystander."""
    async with Watched() as place:
        yield place
