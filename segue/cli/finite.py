"""Finite numbers on the command line."""

from math import isfinite
from typing import Any

import click


class Finite(click.FloatRange):
    """A range of numbers without NaN, which is neither below nor above any limit, and without infinity."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Returns the number. Raises UsageError for a `value` that is no number, is not finite, or lies outside the range."""
        found = super().convert(value, param, ctx)
        if not isfinite(found):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return float(found)
