"""Every valid trace, however odd, is planned for: there is a page, or a sentence that says why there is none."""

import json
import re
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings

from infra.kernel.errors import SegueError
from segue.cli.plan.command import plan
from tests.support.odd_traces import ODD_TRACES, OddTrace, odd_traces

PAGES = {"satisfaction": "satisfaction.html", "provision": "provision.html"}
_NO_NUMBER = re.compile(r">[^<]*\b(nan|inf|None)\b[^<]*<")


def planned(command: str, trace: OddTrace, folder: Path) -> None:
    """Plans, and checks that there is a page with numbers, or one line that says why there is none."""
    path, numbers = trace.write(folder / "trace"), folder / "numbers.json"
    result = CliRunner().invoke(plan, [command, str(path), "--out", str(folder), "--json", str(numbers)])
    if result.exit_code == 0:
        assert not _NO_NUMBER.search((folder / PAGES[command]).read_text(encoding="utf-8"))
        assert json.loads(numbers.read_bytes())
        return
    assert isinstance(result.exception, SegueError | SystemExit), result.exc_info
    assert str(result.exception if isinstance(result.exception, SegueError) else result.output).strip()
    assert not numbers.exists()
    assert not (folder / PAGES[command]).exists()


@pytest.mark.parametrize("command", PAGES)
@pytest.mark.parametrize("name", ODD_TRACES)
def test_a_named_one_has_a_page_or_a_sentence(name: str, command: str, tmp_path: Path) -> None:
    planned(command, ODD_TRACES[name], tmp_path)


@settings(max_examples=12)
@given(trace=odd_traces())
def test_so_has_whatever_is_made_up(trace: OddTrace) -> None:
    for command in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            planned(command, trace, Path(folder))
