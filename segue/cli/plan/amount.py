"""Amounts on the command line: a number, or a share of something."""

from math import isfinite
from typing import Any

import click


class Amount(click.ParamType[int | float]):
    """An amount above 0: `276` is the whole number 276, `10%` the share 0.1."""

    name = "amount"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | float:
        text = str(value).strip()
        try:
            found = float(text[:-1]) / 100 if text.endswith("%") else int(text)
        except ValueError:
            found = 0
        if not (found > 0 and isfinite(found)):
            self.fail(f"{value}: must be a whole number above 0, or a share above 0 as 10%", param, ctx)
        return found
