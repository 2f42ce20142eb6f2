"""Conditions, read from the tables under `when`. Everything that is wrong is a `ConfigError` that names the key."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from infra.kernel.errors import ConfigError
from infra.kernel.suggestion import suggest

from .condition import All, AnyOf, Condition, Not, Operand, Test
from .facts import EXAMPLES, FACTS, Fact

_OPERATORS: Final[dict[type, tuple[str, ...]]] = {bool: ("is",), str: ("is", "in"), int: ("is", "at_least", "below")}
_NESTING: Final = ("all", "any", "not")


def read_condition(table: object, at: str, numbers: Mapping[str, int]) -> Condition:
    """Returns the condition in `table`; several keys in one table must all hold.

    - `at`: where the table is, for complaints.
    - `numbers`: settings whose names may stand for their values.
    """
    if not isinstance(table, dict) or not table:
        raise ConfigError(f"{at} must be a table with at least one fact, all, any or not; a rule for everybody is not a rule")
    return _together([_read_key(key, value, f"{at}.{key}", numbers) for key, value in table.items()])


def _read_key(key: str, value: object, at: str, numbers: Mapping[str, int]) -> Condition:
    match key:
        case "all":
            return _together(_read_parts(value, at, numbers))
        case "any":
            return AnyOf(_read_parts(value, at, numbers))
        case "not":
            return Not(read_condition(value, at, numbers))
    if key not in FACTS:
        raise ConfigError(f"{at}: no such fact; {suggest(key, [*FACTS, *_NESTING])}")
    return _read_tests(key, value, at, numbers)


def _read_parts(value: object, at: str, numbers: Mapping[str, int]) -> list[Condition]:
    if not isinstance(value, list) or not value:
        raise ConfigError(f"{at} must be a list of at least one table, as in [{{ desktop = true }}, {{ mobile = true }}]")
    return [read_condition(part, f"{at}[{index}]", numbers) for index, part in enumerate(value)]


def _read_tests(name: str, value: object, at: str, numbers: Mapping[str, int]) -> Condition:
    """Returns the comparisons of one fact. `desktop = true` is short for `desktop.is = true`."""
    operators: dict[str, Any] = value if isinstance(value, dict) else {"is": value}
    known = _OPERATORS[FACTS[name].type]
    if not operators:
        raise ConfigError(f"{at} compares with nothing; known here: {', '.join(known)}")
    for operator in operators:
        if operator not in known:
            raise ConfigError(f"{at}.{operator}: {name} cannot be compared so; {suggest(operator, known)}")
    return _together([Test(name, operator, _read_operand(name, operator, operand, at, numbers)) for operator, operand in operators.items()])


def _read_operand(name: str, operator: str, operand: object, at: str, numbers: Mapping[str, int]) -> Operand:
    fact = FACTS[name]
    if operator == "in":
        if not isinstance(operand, list) or not operand:
            raise ConfigError(f"{at}.in must be a list of at least one text")
        return tuple(str(_read_value(fact, value, f"{at}.in", numbers)) for value in operand)
    return _read_value(fact, operand, at, numbers)


def _read_value(fact: Fact, value: object, at: str, numbers: Mapping[str, int]) -> bool | int | str:
    if fact.type is int and isinstance(value, str):
        if value not in numbers:
            raise ConfigError(f'{at} = "{value}": no such setting; {suggest(value, numbers)}')
        return numbers[value]
    if type(value) is not fact.type:  # not isinstance: a bool is an int too
        raise ConfigError(f"{at} = {value!r}: must be {EXAMPLES[fact.type]}")
    assert isinstance(value, bool | int | str)
    if fact.values and value not in fact.values:
        raise ConfigError(f'{at} = "{value}": it is never so; {suggest(str(value), fact.values)}')
    return value


def _together(parts: Sequence[Condition]) -> Condition:
    return parts[0] if len(parts) == 1 else All(parts)
