"""JSON that has one meaning only: every reader must find the same in it. Pure.

Readers differ in what they make of a name that is there twice, of other encodings than UTF-8, and of `NaN`. What is signed must not
mean one thing to the one who checks it and another to the one who acts on it (RFC 7519, section 4, lets a reader refuse such claims).
"""

import json
from typing import Any, NoReturn


def read_one_meaning(data: bytes) -> dict[str, Any]:
    """Returns the JSON object in `data`. Raises ValueError for anything else, for a name that is there twice, and for `NaN`."""
    try:
        found = json.loads(data.decode(), object_pairs_hook=_object, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(found, dict):
        raise ValueError("it must be a JSON object")
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is there twice")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
