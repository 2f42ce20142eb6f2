"""segue.cli.steps: a command that takes its time says what it is doing."""

import io
import re

from rich.console import Console

from segue.cli.steps import told_steps


def test_elsewhere_than_on_a_terminal_each_step_is_a_line_with_the_time_so_far() -> None:
    told = io.StringIO()
    with told_steps(Console(file=told, force_terminal=False)) as begun:
        begun("reading the trace")
        begun("counting [pairs]")
    lines = told.getvalue().splitlines()
    assert [line[10:] for line in lines] == ["reading the trace", "counting [pairs]"]
    assert all(re.fullmatch(r" *[0-9]+\.[0-9] s  ", line[:10]) for line in lines)


def test_on_a_terminal_no_line_is_left_of_a_step() -> None:
    told = io.StringIO()
    with told_steps(Console(file=told, force_terminal=True, _environ={})) as begun:
        begun("reading the trace")
    assert " s  reading the trace" not in told.getvalue()
