"""The options that the commands of `segue ring` have in common."""

from typing import Any

import click

from ..access import access_options

sites_options = access_options(url="http://127.0.0.1:7710", peer="broker of each site", whose="service")


class SlotNames(click.ParamType[tuple[str, ...]]):
    """Names of slots, with commas between them; a tuple for the command."""

    name = "slots"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Returns the names. Fails where one is empty."""
        if isinstance(value, tuple):
            return value
        names = tuple(dict.fromkeys(name.strip() for name in str(value).split(",")))
        if not all(names):
            self.fail(f"{value!r} has an empty name; write slots such as b4,b5", param, ctx)
        return names
