"""Numbers on the command line that can be reckoned with."""

from math import isfinite
from typing import Any

import click


class Finite(click.FloatRange):
    """A range of numbers without NaN, which is neither below nor above any limit, and without infinity."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number. Raises UsageError for what is none, not finite, or out of the range."""
        found = super().convert(value, param, ctx)
        if not isfinite(found):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return float(found)
