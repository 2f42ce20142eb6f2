"""JSON objects on the command line."""

from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec

Command = TypeVar("Command", bound=Callable[..., object])


class JsonObject(click.ParamType[dict[str, Any]]):
    """An option that is a JSON object; `example` is one that the error shows."""

    name = "json"

    def __init__(self, example: str) -> None:
        self._example = example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        """Returns the object that the text `value` is. Raises UsageError for any other text."""
        try:
            return msgspec.json.decode(value, type=dict[str, Any])
        except msgspec.DecodeError as error:
            self.fail(f"{error}; it must be a JSON object, such as '{self._example}'", param, ctx)


def payload_option(example: str, help: str = "What to tell about it: a JSON object.") -> Callable[[Command], Command]:
    """Returns the decorator that gives a command `--payload`; `example` stands in the error, `help` in the help."""
    return click.option("--payload", type=JsonObject(example), default="{}", show_default=True, help=help)
