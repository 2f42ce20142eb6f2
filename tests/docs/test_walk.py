"""Every page does as it says: its commands, files and scripts, in order, in one clone, as somebody would who reads them all.

`python -m tests.docs PAGE` walks a single one, and tells what it does.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.network import own_network
from tests.docs.order import PAGES, ROOT
from tests.docs.page import steps
from tests.docs.walk import clone

TIMEOUT_S = 300


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One clone for all pages."""
    folder = tmp_path_factory.mktemp("docs") / "clone"
    clone(folder)
    return folder


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.timeout(TIMEOUT_S + 10)
@pytest.mark.parametrize("page", [page for page in PAGES if steps((ROOT / page).read_text(encoding="utf-8"))])
def test_a_page_does_as_it_says(page: str, folder: Path) -> None:
    command = [*own_network(), sys.executable, "-m", "tests.docs", page, "--folder", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stdout + done.stderr
