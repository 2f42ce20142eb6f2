"""Node, and the packages of `clients/js` as it runs them: what they need is installed and built when a test asks for it first."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.architecture.sources import ROOT

PACKAGE: Final = ROOT / "clients" / "js"
_SOURCES: Final = ("build.mjs", "package.json", "src/**/*.ts", "test/**/*.ts", "conformance/*.ts")
# The example application is built with the package, which it bundles.
_RADIO: Final = ROOT / "examples" / "radio"
_INSTALLED: Final = PACKAGE / "node_modules" / ".package-lock.json"
_BUILT: Final = PACKAGE / "dist" / ".built"


@cache
def built() -> Path:
    """Returns the folder of the built package and its tests. Where there is no node the test is skipped, and fails if CI says that nothing
    may be skipped."""
    missing = [name for name in ("node", "npm") if shutil.which(name) is None]
    if missing:
        needs = "it needs node 20.10 or newer (Debian: apt install nodejs npm)"
        _without(f"NO {' AND NO '.join(missing).upper()}, clients/js is not tested; {needs}")
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build" / "js.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        if not _is_newer(_INSTALLED, [PACKAGE / "package-lock.json"]):
            run("npm", "ci")
        sources = [path for pattern in _SOURCES for path in PACKAGE.glob(pattern)]
        if not _is_newer(_BUILT, [*sources, *_RADIO.glob("src/*.ts"), _RADIO / "tsconfig.json"]) or not (_RADIO / "dist").exists():
            run("node", "build.mjs")
            run("node", "build.mjs", "--tests")
            _BUILT.touch()
    return PACKAGE / "dist"


def run(*command: str) -> str:
    """Returns what `command` prints in the folder of the package. Fails with its words where it fails."""
    done = subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _without(message: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


def _is_newer(path: Path, sources: Iterable[Path]) -> bool:
    return path.exists() and all(each.stat().st_mtime <= path.stat().st_mtime for each in sources)
