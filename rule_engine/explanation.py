"""Explanations: why a verdict is as it is."""

import msgspec

from .verdict import Verdict


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one rule. `failed`: the parts of its condition that do not hold; none if it matched."""

    name: str
    failed: tuple[str, ...]

    @property
    def matched(self) -> bool:
        """Whether the condition of the rule holds."""
        return not self.failed


class ExplainedVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict with a finding for every rule of the set, in the order of the rules."""

    findings: tuple[Finding, ...]
    verdict: Verdict
