"""Recent answer: what the owner of a topic has answered, and for whom else that is the answer. Pure.

An owner says with it behind which stamp of its window nothing has come (`quiet`). Who has got everything up to there lacks nothing,
whenever that was. Who asks from the very same point as the one before gets the same events.
"""

from collections.abc import Mapping


class RecentAnswer:
    """An answer of the owner that counts in `epoch`.

    - `quiet`: the stamp behind which nothing has come.
    - `behind`: from which stamps on it was asked, and `bodies`: what has come since then; None where the asker had some of it already.
    """

    __slots__ = ("behind", "bodies", "epoch", "quiet")

    def __init__(self, epoch: int, quiet: int, behind: Mapping[int, int], bodies: list[bytes] | None) -> None:
        self.epoch, self.quiet, self.behind, self.bodies = epoch, quiet, behind, bodies

    def missed(self, stamps: Mapping[int, int]) -> list[bytes] | None:
        """Returns what somebody has missed who has got everything up to `stamps`, if it still stands; None where it does not tell."""
        stamp = stamps.get(self.epoch)
        if stamp is not None and stamp >= self.quiet:
            return []
        return self.bodies if self.behind is stamps or self.behind == stamps else None
