"""Rule sets: what decides.

In three steps, whatever the order of the rules is: all channels that matching rules grant are united; then matching rules take
channels away; then they put off what is left.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from .condition import Condition, Holds
from .explanation import ExplainedVerdict, Finding
from .facts import Facts
from .settings import Settings
from .verdict import CHANNELS, Verdict, Way

# A set of channels is a bit mask while a decision is made: uniting and taking away are one operation each, without allocation.
_BITS: Final = {channel: 1 << index for index, channel in enumerate(CHANNELS)}
_ENGINE, _IN_CLIENT, _PUSH, _EMAIL, _WEBHOOK = _BITS.values()
_NO, _NOW, _AFTER_QUIET, _DIGEST = Way  # a look-up in an enum takes as long as a condition
_ANY: Final = range(1 << len(CHANNELS))
# The followers of one event are of few kinds: a million of them differ in less than this.
REMEMBERED: Final = 1 << 12


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule. What it does to channels when its condition holds:

    - `then`: grants them.
    - `never`: takes them away, whoever has granted them.
    - `after_quiet`: puts them off until quiet hours end.
    - `digest`: collects them.
    """

    name: str
    when: Condition
    then: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    after_quiet: tuple[str, ...] = ()
    digest: tuple[str, ...] = ()


# One effect of one rule: whether it holds, the channels it is about, and what it adds to the reasons. The reasons are a table
# with an entry for each possible set of channels that are hit, so a decision makes no texts.
_Clause = tuple[Holds, int, Sequence[tuple[str, ...]]]


class RuleSet:
    """The rules that have been checked (`load`). Any rule may stand anywhere: their order changes only the order of the reasons.

    The last `remembered` verdicts are kept, because the same facts always get the same verdict.
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
        """Returns the verdict (SB-40, SB-41)."""
        return self._decided(facts)

    def _decide(self, facts: Facts) -> Verdict:
        granted, reasons = 0, []
        for holds, mask, name in self._grants:
            if holds(facts):
                granted |= mask
                reasons.append(name)
        # Grants first: only what was granted can be taken away, and only what is left can be put off. Reasons follow this order.
        left = granted & ~_hit(self._takes, granted, facts, reasons)
        waits = _hit(self._after_quiet, left, facts, reasons)
        collected = _hit(self._digest, left, facts, reasons)
        return Verdict(
            engine=left & _ENGINE != 0,
            in_client=left & _IN_CLIENT != 0,
            push=_way(_PUSH, waits, collected) if left & _PUSH else _NO,
            email=_way(_EMAIL, waits, collected) if left & _EMAIL else _NO,
            webhook=_NOW if left & _WEBHOOK else _NO,
            reasons=tuple(reasons),
        )

    def explain(self, facts: Facts) -> ExplainedVerdict:
        """Returns the verdict, and for every rule why it matched or did not."""
        findings = [Finding(name=rule.name, failed=tuple(rule.when.failures(facts))) for rule in self.rules]
        return ExplainedVerdict(findings=tuple(findings), verdict=self.decide(facts))


def _hit(clauses: list[_Clause], channels: int, facts: Facts, reasons: list[str]) -> int:
    """Returns those of `channels` that the clauses hit: they are about them, and they hold. Adds to `reasons`.

    A clause that is about none of `channels` is not asked.
    """
    found = 0
    for holds, mask, notes in clauses:
        here = mask & channels
        if here and holds(facts):
            found |= here
            reasons.extend(notes[here])
    return found


def _way(bit: int, waits: int, collected: int) -> Way:
    """Returns how a channel goes out. What is collected goes out later than what only waits, so a digest wins."""
    if collected & bit:
        return _DIGEST
    return _AFTER_QUIET if waits & bit else _NOW


def _clauses(sign: str, rules: tuple[Rule, ...], channels: Callable[[Rule], tuple[str, ...]]) -> list[_Clause]:
    return [(rule.when.holds, _mask(channels(rule)), _notes(sign, rule.name)) for rule in rules if channels(rule)]


def _notes(sign: str, name: str) -> list[tuple[str, ...]]:
    return [tuple(f"{sign}{channel}:{name}" for channel, bit in _BITS.items() if mask & bit) for mask in _ANY]


def _mask(channels: Iterable[str]) -> int:
    return sum(_BITS[channel] for channel in set(channels))
