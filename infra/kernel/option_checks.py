"""Checks for the options of every role: numbers can be meant, and do not contradict each other."""

import math
from collections.abc import Collection

import msgspec

from infra.kernel.errors import ConfigError


def check_numbers(table: str, options: msgspec.Struct, may_be_zero: Collection[str] = ()) -> None:
    """Raises ConfigError for a number of `options` that is not finite, or not over 0.

    - `table`: the name of the table in the file, for the message.
    - `may_be_zero`: fields that may be 0.
    """
    for field in msgspec.structs.fields(options):
        value = getattr(options, field.name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if not (0 < value < math.inf or (value == 0 and field.name in may_be_zero)):
            wanted = "0 or more" if field.name in may_be_zero else "over 0"
            raise ConfigError(f"{table}.{field.name} is {value}; write a finite number that is {wanted}, such as {field.default}")


def check_at_least(key: str, value: float, other: str, least: float, why: str, times: float = 1) -> None:
    """Raises ConfigError unless the `value` of `key` is at least so many `times` the value of `other`, which is `least`.

    `why`: what would happen otherwise.
    """
    if value < times * least:
        wanted = f"at least {times:g} times {other}" if times != 1 else f"at least {other}"
        remedy = f"write {key} = {_plain(times * least)} or more, or less for {other}"
        raise ConfigError(f"{key} is {_plain(value)} and {other} is {_plain(least)}: {why}. {key} must be {wanted}; {remedy}")


def _plain(value: float) -> str:
    """Returns the value as one would write it: bytes are whole numbers."""
    return str(int(value)) if value == int(value) else f"{value:g}"
