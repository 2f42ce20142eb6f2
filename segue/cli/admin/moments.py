"""Times on the command line of `segue admin`."""

import re
import time
from typing import Any, Final

import click

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_FORM: Final = re.compile(r"(\d+)([smhd])")


class Duration(click.ParamType[float]):
    """A duration such as 90s, 15m, 24h or 7d; a number of seconds for the command."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Returns the seconds that `value` says. Fails with a message that shows the form."""
        if isinstance(value, int | float):
            return float(value)
        found = _FORM.fullmatch(str(value))
        if found is None:
            self.fail(f"{value!r} is no duration; write one such as 90s, 15m, 24h or 7d", param, ctx)
        return float(int(found[1]) * _UNITS[found[2]])


def shown_time(unix_s: float) -> str:
    """Returns a Unix time as people here read it."""
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(unix_s))
    except (OverflowError, ValueError, OSError):
        return f"{unix_s:.0f}"
