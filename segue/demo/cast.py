"""The cast of the privacy act: who lets nobody hear them, who blocks whom, and who would like to hear more than they may. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

STRANGERS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacyCast:
    """The cast. Where the data have too few friends, some are missing.

    - `silent`: let nobody see any more what they play.
    - `private`: begin a private session.
    - `blocks`: pairs of friends. The first blocks the second.
    - `as_before`: change nothing; their friends hear them.
    - `strangers`: pairs of a user and one who is no friend. The first tries to follow the second.
    """

    silent: tuple[str, ...]
    private: tuple[str, ...]
    blocks: tuple[tuple[str, str], ...]
    as_before: tuple[str, ...]
    strangers: tuple[tuple[str, str], ...]

    @property
    def players(self) -> list[str]:
        """All who play in this act."""
        return [*self.silent, *self.private, *(user for pair in self.blocks for user in pair), *self.as_before]

    @property
    def hidden(self) -> frozenset[str]:
        """Those whom nobody may hear."""
        return frozenset((*self.silent, *self.private))

    def ends(self, friends: Mapping[str, Sequence[str]]) -> set[tuple[str, str]]:
        """Returns the subscriptions that end: pairs of a user and the friend whom they may not hear any more."""
        silenced = {(friend, user) for user in self.silent for friend in friends[user]}
        return silenced | {pair for one, other in self.blocks for pair in ((one, other), (other, one))}

    def attempts(self, friends: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
        """Returns who then tries in vain to follow whom: strangers, and those whose subscriptions have ended."""
        return [*self.strangers, *sorted(self.ends(friends))]


def cast(friends: Mapping[str, Sequence[str]]) -> PrivacyCast:
    """Returns the users with the most friends, so that most is to be seen. The same friends give the same cast."""
    ranks = iter(sorted((user for user in friends if friends[user]), key=lambda user: (-len(friends[user]), user)))
    silent, private, blockers = tuple(islice(ranks, 1)), tuple(islice(ranks, 1)), tuple(islice(ranks, 1))
    taken = {*silent, *private, *blockers}
    blocks = [(one, other) for one in blockers for other in islice((each for each in friends[one] if each not in taken), 1)]
    taken.update(other for _, other in blocks)
    as_before = tuple(islice((user for user in ranks if user not in taken), 1))
    strange = ((user, owner) for owner in as_before for user in friends if user != owner and user not in friends[owner])
    return PrivacyCast(
        silent=silent, private=private, blocks=tuple(blocks), as_before=as_before, strangers=tuple(islice(strange, STRANGERS))
    )
