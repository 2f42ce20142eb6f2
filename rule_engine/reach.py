"""The check that a condition can hold at all: a rule that never matches is a mistake of its writer."""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from .condition import Condition, Test
from .facts import CLASSES_OF, FACTS, Facts


def is_reachable(condition: Condition) -> bool:
    """Returns whether `condition` holds for any facts.

    Tries every combination of those values of its facts that make a difference.
    """
    return any(condition.holds(facts) for facts in _cases(list(condition.tests())))


def _cases(tests: list[Test]) -> Iterator[Facts]:
    names = sorted({test.fact for test in tests} - {"topic", "class"})
    choices = [_choices(name, [test.operand for test in tests if test.fact == name]) for name in names]
    attributes = [FACTS[name].attribute for name in names]
    # Topic and class come in pairs: an artist topic with the class of a playlist is no event at all.
    for (topic, classes), *values in product(CLASSES_OF.items(), *choices):
        known: dict[str, Any] = dict(zip(attributes, values, strict=True))
        for cls in classes:
            yield Facts(topic=topic, cls=cls, **known)


def _choices(name: str, operands: Iterable[object]) -> list[Any]:
    """Returns one value of each range into which the operands divide the values of the fact."""
    if FACTS[name].type is bool:
        return [False, True]
    if FACTS[name].type is str:
        return ["", *(value for operand in operands for value in (operand if isinstance(operand, tuple) else (operand,)))]
    limits = {limit for limit in operands if isinstance(limit, int)}
    return sorted({near for limit in {0, *limits} for near in (limit - 1, limit, limit + 1) if near >= 0})
