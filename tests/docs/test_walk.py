"""Every page does as it says: its commands, files and scripts, in order, in a clone, as its reader would.

A page needs no other one before it, but those that `tests/conftest.py` names. So several are walked at once. `python -m tests.docs PAGE`
walks a single one, and tells what it does.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from infra.kernel.errors import ConfigError
from segue.cassandra.jars import default_cache, fetch_jars
from tests.docs.network import own_network
from tests.docs.order import PAGES, ROOT
from tests.docs.page import Command, Script, steps
from tests.docs.tables import why_not
from tests.docs.walk import clone
from tests.support.browser import find_browser
from tests.support.cassandra import no_cassandra

TIMEOUT_S = 900


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone, for all pages that one process walks."""
    folder = tmp_path_factory.mktemp("docs") / "clone"
    clone(folder)
    return folder


def asked(page: str) -> list[Command | Script]:
    """Returns the commands and scripts of a page that run here."""
    found = steps((ROOT / page).read_text(encoding="utf-8"))
    return [step for step in found if isinstance(step, Command | Script) and why_not(page, step.text) is None]


@pytest.fixture
def needs(page: str) -> None:
    """What a walk cannot fetch is there: a browser for JavaScript, and Cassandra's jars. Skips the page otherwise, and fails it in CI."""
    if any(isinstance(step, Script) and step.language == "js" for step in asked(page)):
        find_browser()
    if any(step.text.startswith("segue cassandra ") for step in asked(page)):
        try:
            fetch_jars(default_cache(os.environ), os.environ)
        except ConfigError as trouble:
            if os.environ.get("CI") == "true":
                pytest.fail(f"no Cassandra: {trouble}")
            pytest.skip(no_cassandra("its page is not walked", trouble))


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.timeout(TIMEOUT_S + 10)
@pytest.mark.parametrize("page", [page for page in PAGES if steps((ROOT / page).read_text(encoding="utf-8"))])
@pytest.mark.usefixtures("needs")
def test_a_page_does_as_it_says(page: str, folder: Path) -> None:
    command = [*own_network(), sys.executable, "-m", "tests.docs", page, "--folder", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stdout + done.stderr
