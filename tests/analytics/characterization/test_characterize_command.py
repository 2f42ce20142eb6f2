"""`segue analyze characterize`, as far as it needs no Spark of its own."""

from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from analytics.errors import TraceError
from segue.cli.analyze.characterize import characterize, show
from tests.support.traces import BARE, write

from .conftest import Done


@pytest.mark.timeout(300)
def test_the_headlines_say_what_there_is_what_was_left_out_and_where(small: Done) -> None:
    console = Console(file=StringIO(), width=100)
    show(small.summary, small.folder, 12.3, console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    for expected in ("pairs", "14 figures in 12 s", "10 of 114 publications", str(small.folder)):
        assert expected in text


def test_a_folder_that_is_no_trace_is_told_and_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="there is no such folder"):
        CliRunner().invoke(characterize, [str(tmp_path / "t")], catch_exceptions=False)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_trace_is_told_and_nothing_is_made(tmp_path: Path) -> None:
    write(tmp_path / "t", BARE)
    with pytest.raises(TraceError, match="the trace is empty"):
        CliRunner().invoke(characterize, [str(tmp_path / "t")], catch_exceptions=False)
    assert [path.name for path in tmp_path.iterdir()] == ["t"]
