"""Numbers written for readers."""

from math import isfinite, log10
from typing import Final

_SUPERSCRIPT: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LEAST: Final = 1e-3
_MOST: Final = 1e9
_UNITS: Final = (("days", 1), ("hours", 24), ("minutes", 1_440), ("seconds", 86_400))


def number(value: float) -> str:
    """Writes a number for a reader: `1,234`, `0.0123`, `3.2·10⁻⁷`. Whole numbers are given in full, others with four significant digits."""
    if not isfinite(value):
        return "none"
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    if not _LEAST <= abs(value) < _MOST:
        digits, _, exponent = f"{value:.2e}".partition("e")
        return f"{digits}·{power(int(exponent))}"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"


def power(exponent: int) -> str:
    """Writes a power of ten: `10⁻⁷`."""
    return f"10{str(exponent).translate(_SUPERSCRIPT)}"


def decade(value: float) -> str:
    """Writes a power of ten as the label of a logarithmic axis: `1,000`, `0.1`, `10⁻⁵`."""
    exponent = round(log10(value))
    return f"{10.0**exponent:,g}" if -2 <= exponent <= 4 else power(exponent)


def duration(days: float) -> tuple[str, str]:
    """Returns a length of time in the largest unit that it fills, and the name of that unit: `10`, `days`; `23.6`, `seconds`."""
    unit, per_day = next(((unit, per_day) for unit, per_day in _UNITS if days * per_day >= 1), _UNITS[-1])
    return number(round(days * per_day, 1)), unit
