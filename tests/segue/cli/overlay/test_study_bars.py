"""The progress of studies."""

import io

from rich.console import Console

from segue.cli.overlay.study_bars import study_bars


def test_without_a_terminal_a_study_tells_its_first_step_and_its_end() -> None:
    written = io.StringIO()
    with study_bars({"a": "First [one]", "b": "Second"}, Console(file=written, width=200)) as told:
        for said in (("a", "step 1"), ("a", "step 2"), ("b", "step 1"), ("a", "")):
            told(*said)
    lines = [line.split(" s  ")[1] for line in written.getvalue().splitlines()]
    assert lines == ["First [one]: step 1", "Second: step 1", "First [one]: done"]


def test_on_a_terminal_there_is_a_bar_for_all_and_one_for_each_study_at_work() -> None:
    written = io.StringIO()
    with study_bars({"a": "First", "b": "Second"}, Console(file=written, width=120, force_terminal=True)) as told:
        told("a", "step [1]")
        told("b", "")
    assert "First: step [1]" in written.getvalue()
    assert "1/2" in written.getvalue()
