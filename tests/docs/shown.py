"""Whether what a command printed has the form that its page shows."""

import json
import re
from typing import Any, Final

from tests.docs.page import Block

# Moments and numbers that are made anew each time; smaller ones stand for themselves.
_LARGE: Final = 10**9


def differs(shown: Block, printed: str) -> str | None:
    """Returns how the output of a command differs from what the page shows of it; None where it does not."""
    expected, found = (_json(shown.text), _json(printed)) if shown.language == "json" else (_text(shown.text), _text(printed))
    return None if expected == found else f"the page shows\n{expected}\nand it is\n{found}"


def _json(text: str) -> Any:
    try:
        return _masked(json.loads(text))
    except ValueError:
        return text


def _masked(value: Any) -> Any:
    match value:
        case dict():
            return {key: _masked(each) for key, each in value.items()}
        case list():
            return [_masked(each) for each in value]
        case int() if value >= _LARGE:
            return "a moment"
    return value


def _text(text: str) -> list[str]:
    """Returns the lines with every number masked, because counts and times of real runs differ. Where a line is broken is not compared."""
    return re.sub(r"\d[\d,.]*", "N", text).split()
