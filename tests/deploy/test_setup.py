"""Each target sets up what it needs, no more, and says so before it does."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def planned(tmp_path: Path, *arguments: str) -> str:
    """Returns what make would do where nothing is set up yet."""
    command = ["make", "--dry-run", "--no-print-directory", f"VENV={tmp_path / 'none'}", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("arguments", "installed"),
    [
        (["setup"], ["runtime"]),
        (["demo"], ["runtime"]),
        (["demo", "STORE=cassandra"], ["runtime", "analytics"]),
        (["setup-analytics"], ["runtime", "analytics"]),
        (["report"], ["runtime", "analytics"]),
        *[([target], ["runtime", "analytics", "dev"]) for target in ("setup-all", "test", "check", "bench")],
    ],
    ids=lambda value: " ".join(value),
)
def test_a_target_installs_what_it_needs(arguments: list[str], installed: list[str], tmp_path: Path) -> None:
    assert re.findall(r"--requirement requirements/(\w+)\.txt", planned(tmp_path, *arguments)) == installed


def test_what_is_installed_is_said_before_with_its_size(tmp_path: Path) -> None:
    lines = planned(tmp_path, "setup-all").splitlines()
    for first in [number for number, line in enumerate(lines) if "--requirement" in line]:
        said = [line for line in lines[:first] if line.startswith("echo")]
        assert any(re.search(r"about [\d.]+ [MG]B", line) for line in said[-3:])
        assert "packages" in said[-1]
