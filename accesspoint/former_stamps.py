"""Former stamps: up to where everything has come of epochs and streams that the aggregator does not name any more. Pure.

That does not become untrue when nobody names them. While no stamp of a later owner of a topic has come, it alone tells what of the topic
has come: a broker is dead, its heir has given the rest, and has not said a stamp yet. Whoever asks without it is given all of it again.
"""

from collections.abc import Mapping
from typing import Final

# So many are remembered, the newest of them. A question names no more than `MOST_NAMED` altogether.
MOST: Final = 64
MOST_NAMED: Final = 1024


class FormerStamps:
    """The epochs and streams that are not named any more, the newest last, and until when each is remembered, in seconds."""

    def __init__(self) -> None:
        self._until_s: dict[int, float] = {}

    def __len__(self) -> int:
        return len(self._until_s)

    def behind(self, named: Mapping[int, int], known: Mapping[int, int], until_s: float) -> Mapping[int, int]:
        """Returns `named`, and behind it what of `known` is named no more, the newest first. It is remembered until `until_s`."""
        if not self._until_s and named.keys() == known.keys():
            return named
        until = {epoch: each for epoch, each in self._until_s.items() if epoch in known and epoch not in named}
        until.update((epoch, until_s) for epoch in known if epoch not in named and epoch not in until)
        most = max(0, min(MOST, MOST_NAMED - len(named)))
        self._until_s = dict(list(until.items())[-most:]) if most else {}
        return {**named, **{epoch: known[epoch] for epoch in reversed(self._until_s)}}

    def raised(self, known: Mapping[int, int], reached: Mapping[int, int]) -> Mapping[int, int]:
        """Returns `known`, where what is remembered has come up to `reached`."""
        if not any(reached.get(epoch, 0) > known.get(epoch, 0) for epoch in self._until_s):
            return known
        return {epoch: max(stamp, reached.get(epoch, 0)) if epoch in self._until_s else stamp for epoch, stamp in known.items()}

    def forget(self, known: Mapping[int, int]) -> Mapping[int, int]:
        """Returns `known` without what is remembered, and forgets that."""
        until, self._until_s = self._until_s, {}
        return {epoch: stamp for epoch, stamp in known.items() if epoch not in until} if until else known

    def tick(self, known: Mapping[int, int], now_s: float) -> Mapping[int, int]:
        """Returns `known` without what is remembered no longer at `now_s`."""
        old = {epoch for epoch, until_s in self._until_s.items() if until_s <= now_s}
        if not old:
            return known
        self._until_s = {epoch: until_s for epoch, until_s in self._until_s.items() if epoch not in old}
        return {epoch: stamp for epoch, stamp in known.items() if epoch not in old}
