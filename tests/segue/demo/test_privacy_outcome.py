"""What the privacy act came to, in words and as JSON."""

import io
from typing import Any

import pytest
from rich.console import Console

from segue.demo.privacy_outcome import PrivacyOutcome
from segue.demo.privacy_summary import privacy


def outcome(**changes: Any) -> PrivacyOutcome:
    """Returns a good outcome, but for `changes`."""
    found: dict[str, Any] = {"events": 25, "expected": 1_070, "delivered": 1_070, "duplicated": 0, "withheld": 1_155, "overheard": 0}
    return PrivacyOutcome(**(found | {"ended": 121, "told": 121, "ended_ms": 147.25, "attempts": 141, "refused": 141} | changes))


def test_a_good_act_is_told_in_words_and_in_the_document() -> None:
    file = io.StringIO()
    Console(file=file, width=100).print(privacy(outcome()))
    assert outcome().is_good
    assert "withheld            1,155  which their friends would have heard before" in file.getvalue()
    assert "ended                 121  of 121 subscriptions, the last told after 147 ms" in file.getvalue()
    assert outcome().document()["ended_ms"] == 147.25


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"overheard": 2}, "2 events came to users who must not hear them."),
        ({"delivered": 1_069}, "1 deliveries to friends who may hear them were lost."),
        ({"duplicated": 3}, "3 deliveries to friends who may hear them came twice."),
        ({"told": 120}, "1 users were not told that they may not hear a friend any more."),
        ({"refused": 140}, "1 users could follow somebody whom they must not hear."),
    ],
)
def test_what_went_wrong_is_told(changes: dict[str, Any], problem: str) -> None:
    bad = outcome(**changes)
    assert not bad.is_good
    assert list(bad.problems()) == [problem]
