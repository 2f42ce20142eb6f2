"""What may go to a terminal."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from segue.cli.printable import printable


@pytest.mark.parametrize("text", ["", "Björk · 東京 🎵", '{"artist": "Björk"}'])
def test_what_can_be_shown_stays(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [("\x1b[31m", "\\u001b[31m"), ("\x9b", "\\u009b"), ("a\nb", "a\\u000ab"), ("\u202e", "\\u202e"), ("\U000e0001", "\\udb40\\udc01")],
)
def test_what_a_terminal_would_obey_or_hide_is_written_out(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text())
def test_json_keeps_its_value_and_everything_can_be_shown(text: str) -> None:
    shown = printable(json.dumps(text, ensure_ascii=False))
    assert shown.isprintable()
    assert json.loads(shown) == text
