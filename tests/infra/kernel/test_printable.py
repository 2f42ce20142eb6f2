"""What may go to a terminal."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.printable import printable, printable_lines


@pytest.mark.parametrize("text", ["", "Björk · 東京 🎵", '{"artist": "Björk"}'])
def test_what_can_be_shown_stays(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [("\x1b[31m", "\\u001b[31m"), ("\x9b", "\\u009b"), ("a\nb", "a\\u000ab"), ("\u202e", "\\u202e"), ("\U000e0001", "\\udb40\\udc01")],
)
def test_what_a_terminal_would_obey_or_hide_is_written_out(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_lines_stay_lines() -> None:
    assert printable_lines("a\x1b[2J\nb\r") == "a\\u001b[2J\nb\\u000d"


@given(st.text())
def test_json_keeps_its_value_and_everything_can_be_shown(text: str) -> None:
    shown = printable(json.dumps(text, ensure_ascii=False))
    assert shown.isprintable()
    assert json.loads(shown) == text
