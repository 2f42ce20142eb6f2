"""A social service for each test that wants one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.services.artist.contract_intake import ContractIntake
from tests.services.social.house import House


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with ContractIntake() as intake:
        house = House(tmp_path, intake)
        async with house.point, house.playlist:
            for caller in (house.point, house.playlist):
                caller.dial("social", "sto/f1")
            yield house
            await house.role.close()
