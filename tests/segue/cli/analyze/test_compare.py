"""`segue analyze compare`, as it is typed."""

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from analytics.errors import TraceError
from analytics.figures import FIGURES
from segue.cli.analyze.compare import compare
from tests.support.characterizations import ABOUT, make

WITHOUT = tuple(key for key in FIGURES if key not in ("size", "weekly"))


def test_the_scores_are_printed_in_plain_words_with_what_the_words_mean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "a-report", without=WITHOUT)
    make(tmp_path / "b-report", without=WITHOUT, factor=2, about=msgspec.structs.replace(ABOUT, name="[twice]"))

    done = CliRunner().invoke(compare, ["a-report", "b-report"], catch_exceptions=False)

    assert done.exit_code == 0
    assert "made up and [twice]" in done.output
    assert "Subscription size" in done.output
    assert "very different" in done.output
    assert "nearly the same: below 0.05" in done.output
    assert "(made up: there are no times; [twice]: there are no times)" in done.output
    assert (tmp_path / "a-vs-b" / "compare.html").exists()
    assert (tmp_path / "a-vs-b" / "comparison.json").exists()


def test_a_folder_that_cannot_be_compared_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    made = make(tmp_path / "a", without=WITHOUT)
    out = tmp_path / "out"

    with pytest.raises(TraceError, match="is no trace"):
        CliRunner().invoke(compare, [str(made), str(tmp_path), "--out", str(out)], catch_exceptions=False)

    assert [each.name for each in tmp_path.iterdir()] == ["a"]
