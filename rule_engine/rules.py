"""Rule sets: who decides. First all grants of the rules that match are united, then channels are taken away, then put off."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from .condition import Condition, Holds
from .explanation import Explanation, Finding
from .facts import Facts
from .settings import Settings
from .verdict import CHANNELS, Verdict, Way

# A set of channels is a bit mask while a decision is made.
_BITS: Final = {channel: 1 << index for index, channel in enumerate(CHANNELS)}
_ENGINE, _IN_CLIENT, _PUSH, _EMAIL = _BITS.values()
_NO, _NOW, _AFTER_QUIET, _DIGEST = Way  # a look-up in an enum takes as long as a condition
_ANY: Final = range(1 << len(CHANNELS))
# The followers of one event are of few kinds: a million of them differ in less than this.
REMEMBERED: Final = 1 << 12


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """When `when` holds: grant `then`, take `never` away, put `after_quiet` off until quiet hours end, collect `digest`."""

    name: str
    when: Condition
    then: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    after_quiet: tuple[str, ...] = ()
    digest: tuple[str, ...] = ()


# One effect of one rule: whether it holds, the channels it is about, and by channels hit, what it adds to the reasons.
_Clause = tuple[Holds, int, Sequence[tuple[str, ...]]]


class RuleSet:
    """Rules that have been checked (`load`). Any rule may stand anywhere: their order changes the reasons' order only.

    The last `remembered` verdicts are kept, since the same facts always get the same one.
    """

    def __init__(self, rules: Iterable[Rule], settings: Settings, remembered: int = REMEMBERED) -> None:
        self.rules = tuple(rules)
        self.settings = settings
        self._grants = [(rule.when.holds, _mask(rule.then), rule.name) for rule in self.rules if rule.then]
        self._takes = _clauses("-", self.rules, lambda rule: rule.never)
        self._after_quiet = _clauses("~", self.rules, lambda rule: rule.after_quiet)
        self._digest = _clauses("~", self.rules, lambda rule: rule.digest)
        self._decided = lru_cache(remembered)(self._decide)

    def decide(self, facts: Facts) -> Verdict:
        """The verdict (SB-40, SB-41)."""
        return self._decided(facts)

    def _decide(self, facts: Facts) -> Verdict:
        granted, reasons = 0, []
        for holds, mask, name in self._grants:
            if holds(facts):
                granted |= mask
                reasons.append(name)
        left = granted & ~_hit(self._takes, granted, facts, reasons)
        waits = _hit(self._after_quiet, left, facts, reasons)
        collected = _hit(self._digest, left, facts, reasons)
        return Verdict(
            engine=left & _ENGINE != 0,
            in_client=left & _IN_CLIENT != 0,
            push=_way(_PUSH, waits, collected) if left & _PUSH else _NO,
            email=_way(_EMAIL, waits, collected) if left & _EMAIL else _NO,
            reasons=tuple(reasons),
        )

    def explain(self, facts: Facts) -> Explanation:
        """The verdict, and of every rule why it matched or did not."""
        findings = [Finding(name=rule.name, failed=tuple(rule.when.failures(facts))) for rule in self.rules]
        return Explanation(findings=tuple(findings), verdict=self.decide(facts))


def _hit(clauses: list[_Clause], channels: int, facts: Facts, reasons: list[str]) -> int:
    """Those of `channels` that the clauses are about, where they hold."""
    found = 0
    for holds, mask, notes in clauses:
        here = mask & channels
        if here and holds(facts):
            found |= here
            reasons.extend(notes[here])
    return found


def _way(bit: int, waits: int, collected: int) -> Way:
    """What is collected goes out later than what only waits, so a digest wins."""
    if collected & bit:
        return _DIGEST
    return _AFTER_QUIET if waits & bit else _NOW


def _clauses(sign: str, rules: tuple[Rule, ...], channels: Callable[[Rule], tuple[str, ...]]) -> list[_Clause]:
    return [(rule.when.holds, _mask(channels(rule)), _notes(sign, rule.name)) for rule in rules if channels(rule)]


def _notes(sign: str, name: str) -> list[tuple[str, ...]]:
    return [tuple(f"{sign}{channel}:{name}" for channel, bit in _BITS.items() if mask & bit) for mask in _ANY]


def _mask(channels: Iterable[str]) -> int:
    return sum(_BITS[channel] for channel in set(channels))
