"""segue.cli.as_json: what commands print, for people and for programs."""

import msgspec
import pytest

from segue.cli.as_json import show_all


class Named(msgspec.Struct):
    """An answer with a name in it that would move the cursor of a terminal."""

    name: str


def test_each_answer_is_a_line_that_is_safe_for_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    answers = [Named("a\x1b[2J"), Named("b")]
    show_all(answers, True, lambda each: each.name)
    assert capsys.readouterr().out == '{"name":"a\\u001b[2J"}\n{"name":"b"}\n'
    show_all(answers, False, lambda each: each.name)
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert len(said.splitlines()) == 2
