"""Conditions: trees over facts.

A condition is compiled to one closure, `holds`, when the rules are loaded. A decision calls nothing else of it, and walks no
tree.
"""

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Final, Protocol

from .facts import FACTS, Facts

Holds = Callable[[Facts], bool]
Operand = bool | int | str | tuple[str, ...]


class Condition(Protocol):
    """A question about facts. `str()` of it is for people."""

    @property
    def holds(self) -> Holds:
        """The compiled condition: whether it is so."""

    def failures(self, facts: Facts) -> list[str]:
        """Returns why it is not so, one complaint for each part to blame; empty if it holds."""

    def tests(self) -> Iterator["Test"]:
        """Returns every comparison in it."""


class Test:
    """A comparison of one fact with one value of its type (`reader` has checked the type)."""

    __test__ = False  # pytest takes the name for its own

    def __init__(self, fact: str, operator: str, operand: Operand) -> None:
        self.fact, self.operand = fact, operand
        self._value: Callable[[Facts], Operand] = attrgetter(FACTS[fact].attribute)
        self._wanted = f"{_WORDS[operator]}{_shown(operand)}"
        self.holds: Holds = _OPERATORS[operator](self._value, operand)

    def failures(self, facts: Facts) -> list[str]:
        return [] if self.holds(facts) else [f"{self.fact} is {_shown(self._value(facts))}, not {self._wanted}"]

    def tests(self) -> Iterator["Test"]:
        yield self

    def __str__(self) -> str:
        return f"{self.fact} is {self._wanted}"


class All:
    """A condition that holds if every part does."""

    def __init__(self, parts: Sequence[Condition]) -> None:
        self._parts = parts
        self.holds: Holds = _all([part.holds for part in parts])

    def failures(self, facts: Facts) -> list[str]:
        return [failure for part in self._parts for failure in part.failures(facts)]

    def tests(self) -> Iterator[Test]:
        return (test for part in self._parts for test in part.tests())

    def __str__(self) -> str:
        return " and ".join(map(str, self._parts))


class AnyOf:
    """A condition that holds if at least one part does."""

    def __init__(self, parts: Sequence[Condition]) -> None:
        self._parts = parts
        self.holds: Holds = _any([part.holds for part in parts])

    def failures(self, facts: Facts) -> list[str]:
        return [] if self.holds(facts) else [f"none of {self}"]

    def tests(self) -> Iterator[Test]:
        return (test for part in self._parts for test in part.tests())

    def __str__(self) -> str:
        return f"({' or '.join(map(str, self._parts))})"


class Not:
    """A condition that holds if its part does not."""

    def __init__(self, part: Condition) -> None:
        self._part = part
        inner = part.holds
        self.holds: Holds = lambda facts: not inner(facts)

    def failures(self, facts: Facts) -> list[str]:
        return [] if self.holds(facts) else [f"{self}, but it is so"]

    def tests(self) -> Iterator[Test]:
        return self._part.tests()

    def __str__(self) -> str:
        return f"not ({self._part})"


def _all(parts: list[Holds]) -> Holds:
    # A chain of closures of two instead of `all(...)`: no generator is made for a decision, and the first that fails ends it.
    first, *others = parts
    if not others:
        return first
    rest = _all(others)
    return lambda facts: first(facts) and rest(facts)


def _any(parts: list[Holds]) -> Holds:
    first, *others = parts
    if not others:
        return first
    rest = _any(others)
    return lambda facts: first(facts) or rest(facts)


def _is(value: Callable[[Facts], Operand], operand: Operand) -> Holds:
    if operand is True:
        return value  # type: ignore[return-value]  # of a bool fact it is the answer itself
    if operand is False:
        return lambda facts: not value(facts)
    return lambda facts: value(facts) == operand


def _in(value: Callable[[Facts], Operand], operand: Operand) -> Holds:
    assert isinstance(operand, tuple)
    return lambda facts: value(facts) in operand


def _at_least(value: Callable[[Facts], int], operand: int) -> Holds:
    return lambda facts: value(facts) >= operand


def _below(value: Callable[[Facts], int], operand: int) -> Holds:
    return lambda facts: value(facts) < operand


def _shown(value: Operand) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(value) if isinstance(value, tuple) else str(value) or "nothing"


_OPERATORS: Final[dict[str, Callable[..., Holds]]] = {"is": _is, "in": _in, "at_least": _at_least, "below": _below}
_WORDS: Final = {"is": "", "in": "one of ", "at_least": "at least ", "below": "below "}
