"""Explanations: why a verdict is as it is."""

import msgspec

from .verdict import Verdict


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One rule. `failed`: the parts of its condition that do not hold; none if it matched."""

    name: str
    failed: tuple[str, ...]

    @property
    def matched(self) -> bool:
        return not self.failed


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """A finding for every rule of the set, in their order."""

    findings: tuple[Finding, ...]
    verdict: Verdict
