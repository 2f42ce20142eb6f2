"""Promptness: which hosts answer soon, as far as they have shown it. Pure."""

from collections import OrderedDict
from typing import Final

# So many hosts are remembered. A stranger may name any number of hosts.
REMEMBERED: Final = 4096
# How often a host must answer soon before it counts as prompt: one that we do not know, and one that has been slow.
OWED_AT_FIRST: Final = 1
OWED_WHEN_SLOW: Final = 16


class Promptness:
    """The record of what hosts have shown. A host that answers late, or not at all, has to show more than one that nobody knows.

    `soon_s`: within how many seconds an answer is soon.
    """

    def __init__(self, soon_s: float) -> None:
        self._soon_s = soon_s
        self._owed: OrderedDict[str, int] = OrderedDict()

    def is_prompt(self, host: str) -> bool:
        """Returns whether `host` has answered soon, lately."""
        return self._owed.get(host, OWED_AT_FIRST) == 0

    def note(self, host: str, took_s: float) -> None:
        """Notes that `host` has answered, or was given up, after `took_s` seconds."""
        owed = self._owed.pop(host, OWED_AT_FIRST)
        self._owed[host] = max(0, owed - 1) if took_s <= self._soon_s else OWED_WHEN_SLOW
        if len(self._owed) > REMEMBERED:
            self._owed.popitem(last=False)
