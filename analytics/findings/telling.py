"""Numbers in words."""

from typing import Final

from analytics.numbers import number

HOUR: Final = "h"
_LEAST: Final = 1e-3
_MOST: Final = 99.5


def told(value: float, form: str) -> str:
    """Writes `value` in the format `form`. A per cent sign stands apart from its number, as in the rest of the text.

    The format `h` is that of an hour of the day: 17.5 is 17:30. What the format `g` would give as a power of ten is written as on the page.
    """
    if form == HOUR:
        return f"{int(value % 24)}:{round(value % 1 * 60):02}"
    if form.endswith("g") and value and not _LEAST <= abs(value) < _MOST:
        return number(value)
    return format(value, form).replace("%", " %")
