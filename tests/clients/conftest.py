"""A real site for clients: `segue up` in a process of its own."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import pytest

DEADLINE_S: Final = 60.0


@pytest.fixture(scope="module")
def site_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("site")


@pytest.fixture
async def site(site_folder: Path) -> AsyncIterator[dict[str, Any]]:
    """The addresses of a `segue up` of its own, on ports of its own."""
    command = ("-m", "segue", "up", "--policy", "open", "--json", "--port-base", "0", "--private", "127.0.0.1", "--state", str(site_folder))
    process = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=asyncio.subprocess.PIPE, start_new_session=True)
    try:
        assert process.stdout is not None
        async with asyncio.timeout(DEADLINE_S):
            yield json.loads(await process.stdout.readline())
    finally:
        process.terminate()
        await process.wait()
