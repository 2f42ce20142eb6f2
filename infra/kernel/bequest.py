"""Bequests: what a broker has left that is gone from the view without a word, as its heirs say (DPS-18). Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from .ring import Ring


@dataclass(slots=True)
class Bequest:
    """The answers of those that may be heirs of a lost broker.

    - `ring`: that of the view which left the broker out: under it, what it owned is its heirs'.
    - `heirs`: slot -> the kinds of which that one has everything; None while it has not said that.
    - `ends`: epoch -> up to where those that have `answered` have given everything of it that is theirs now.
    - `epochs`: slot -> those of which that one has spoken. They are of one process of the lost broker.
    """

    ring: Ring
    heirs: dict[str, Collection[str] | None] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    epochs: dict[str, Collection[int]] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether somebody has not answered yet."""
        return None in self.heirs.values()

    @property
    def is_whole(self) -> bool:
        """Whether all have answered, and none was lost before it did."""
        return self.answered >= self.heirs.keys()

    def answer(self, slot: str, kinds: Collection[str], ends: Mapping[int, int]) -> None:
        """Notes what `slot` has said."""
        self.heirs[slot], self.epochs[slot] = kinds, ends.keys()
        self.answered.add(slot)
        self.ends |= {epoch: max(end, self.ends.get(epoch, 0)) for epoch, end in ends.items()}

    def lose(self, slot: str) -> None:
        """Notes that the link to `slot` is lost: what it has not said it has not."""
        if slot in self.heirs:
            self.heirs[slot] = self.heirs[slot] or ()
