"""The table of all measures: name, value, and what it means."""

import re
from typing import Final

from analytics.measures import MEASURES
from analytics.numbers import number
from infra.kernel.html import Html
from infra.kernel.trace import SERVICES

from .markup import element, table

_BOUNDS: Final = (".low", ".high")
_SERVICE: Final = re.compile(rf"\b({'|'.join(SERVICES)})$")


def measure_table(measures: dict[str, float]) -> Html:
    """Returns one row for each measure. An interval stands in the row of what it belongs to."""
    rows = [(element("code", name), value(name, measures), meaning(name)) for name in measures if not name.endswith(_BOUNDS)]
    return table(("measure", "value", "meaning"), rows, kind="measures")


def value(name: str, measures: dict[str, float]) -> str:
    """Returns `0.98 (0.97 to 0.99)`, or `-` where there is none."""
    if name not in measures:
        return "-"
    low, high = (measures.get(name + bound) for bound in _BOUNDS)
    between = "" if low is None or high is None else f" ({number(low)} to {number(high)})"
    return number(measures[name]) + between


def meaning(name: str) -> str:
    """Returns what a measure means, that of one service included; the empty text for one that is not known."""
    if name in MEASURES:
        return MEASURES[name]
    service = _SERVICE.search(name)
    general = MEASURES.get(_SERVICE.sub("{service}", name), "")
    return f"{general}, {service[1]}" if service and general else general
