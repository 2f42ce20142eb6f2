"""Whether a condition can hold at all: a rule that never matches is a mistake of its writer."""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from .condition import Condition, Test
from .facts import CLASSES_OF, FACTS, Facts


def is_reachable(condition: Condition) -> bool:
    """Tries every combination of those values of the facts in it that make a difference."""
    return any(condition.holds(facts) for facts in _cases(list(condition.tests())))


def _cases(tests: list[Test]) -> Iterator[Facts]:
    names = sorted({test.fact for test in tests} - {"topic", "class"})
    choices = [_choices(name, [test.operand for test in tests if test.fact == name]) for name in names]
    attributes = [FACTS[name].attribute for name in names]
    for (topic, classes), *values in product(CLASSES_OF.items(), *choices):
        known: dict[str, Any] = dict(zip(attributes, values, strict=True))
        for cls in classes:
            yield Facts(topic=topic, cls=cls, **known)


def _choices(name: str, operands: Iterable[object]) -> list[Any]:
    """One value of each range that the operands divide the fact's values into."""
    if FACTS[name].type is bool:
        return [False, True]
    if FACTS[name].type is str:
        return ["", *(value for operand in operands for value in (operand if isinstance(operand, tuple) else (operand,)))]
    limits = {limit for limit in operands if isinstance(limit, int)}
    return sorted({near for limit in {0, *limits} for near in (limit - 1, limit, limit + 1) if near >= 0})
