"""Who is to be told, in a row of a drill, that something may be missing, and why. Pure."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from infra.kernel.loss_reasons import LossReason
from infra.kernel.ring import Ring
from infra.kernel.topics import parse_topic

# A follower and a topic.
Followed = tuple[str, str]


class Telling(NamedTuple):
    """A word to a follower that something of a topic may be missing."""

    follower: str
    topic: str
    reason: str
    at_s: float


class DueTelling(NamedTuple):
    """A word that is due in a row.

    - `reason`: why something may be missing.
    - `site`: at which site it is told; empty: at all of them. `to`: to everybody there, or only to those who were away.
    - `slots`: of the topics of these brokers of that site, as the ring is before the row; empty: of all topics.
    - `within_s`: so long after the mark, or after somebody is back.
    """

    reason: LossReason
    site: str = ""
    to: Literal["everybody", "travellers"] = "everybody"
    slots: tuple[str, ...] = ()
    within_s: float = 3.0

    def concerns(self, topic: str, ring: Ring | None, *, has_heirs: bool) -> bool:
        """Returns whether it is told of `topic`. With `has_heirs` a topic is lost only where its heir is among the `slots`, too."""
        if ring is None or not self.slots:
            return True
        key = parse_topic(topic)
        return ring.owner(key) in self.slots and (not has_heirs or ring.heir(key) in self.slots)

    def due(
        self, follows: Mapping[str, frozenset[str]], travellers: frozenset[str], ring: Ring | None, *, has_heirs: bool
    ) -> frozenset[Followed]:
        """Returns who is to be told, and of what.

        - `follows`: the topics of each follower. `travellers`: who is away in the row.
        - `ring`: that of the site. `has_heirs`: whether the topics have copies, and no other site publishes on them.
        """
        those = [name for name in follows if name.startswith(self.site) and (self.to == "everybody" or name in travellers)]
        return frozenset((name, topic) for name in those for topic in follows[name] if self.concerns(topic, ring, has_heirs=has_heirs))
