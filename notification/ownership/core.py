"""Who owns which shard, decided from what the store says (design 7). Pure.

Each node raises a counter in the store, about once a second. A node whose counter has not changed for `lease_s` of the
reader's own time is dead, and is buried: its row is taken away, if the counter is still the same. A node itself stops half
of that after the *start* of its last beat that succeeded, so it has stopped before anybody buries it. It goes on with what
it had if it was not buried meanwhile; after that it has to begin anew under another name. Clocks are never compared.

Who is buried has no shards any more: whom the ring over the living gives them to claims them. All claims are one row under
a version, changed if the version is still the same. A shard of a living node is given up by that node only.

What an owner writes bears a number (`Fence`) above that of every owner before it: a write that was under way when its
writer died, and arrives late, is refused or loses.
"""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from infra.kernel.errors import Unavailable
from infra.kernel.ring import Ring

from ..shards import SHARDS

NOBODY: Final = ""


class Member(NamedTuple):
    """A node: a name for one life of one process, where it is reached, and its counter."""

    node: str
    site: str
    address: str
    counter: int


class Claims(NamedTuple):
    """The owner of each shard, or `NOBODY`. The version rises with each change."""

    version: int
    owners: tuple[str, ...]


class Fence(NamedTuple):
    """What a write of an owner bears: who writes, under which number."""

    node: str
    number: int


class Steps(NamedTuple):
    """What to try now: take dead nodes away, and replace the claims. Then read again."""

    bury: list[Member]
    claims: Claims | None


UNCLAIMED: Final = Claims(0, (NOBODY,) * SHARDS)


class Ownership:
    """What one node, named `node`, knows and does. Times are seconds of its own clock, which only goes forward.

    `held` are the shards that it owns; those in `leaving` it shall give up in order (`gave_up`). `dead`: nodes known to have ended.
    """

    def __init__(self, node: str, lease_s: float, dead: Collection[str] = ()) -> None:
        self.node, self.lease_s = node, lease_s
        self.claims = UNCLAIMED
        self.members: dict[str, Member] = {}
        self.held: set[int] = set()
        self.leaving: set[int] = set()
        self.counter = 0
        self._given_up: dict[int, int] = {}
        self._dead = frozenset(dead)
        self._sighted: dict[str, tuple[int, float]] = {}
        self._valid_until_s = float("-inf")
        self._ring = Ring([node])

    # The own lease.

    def next_counter(self, wall_us: int) -> int:
        """The counter for the next beat. It resembles a time, because writes bear it; only that it rises matters."""
        return max(self.counter + 1, wall_us)

    def beaten(self, counter: int, started_s: float) -> None:
        """The store has the counter of the beat that began at `started_s`."""
        self.counter = counter
        self._valid_until_s = started_s + self.lease_s / 2

    def is_valid(self, now_s: float) -> bool:
        """Whether nobody can have buried this node."""
        return now_s < self._valid_until_s

    def fence(self, now_s: float) -> Fence:
        """What writes bear now. Raises Unavailable while the own lease has run out: nothing may be decided, stored or told."""
        if not self.is_valid(now_s):
            raise Unavailable("this node has not reached the store lately, and another may own its followers by now")
        return Fence(self.node, max(self.counter, self.claims.version))

    # Shards.

    @property
    def is_buried(self) -> bool:
        """Whether others took this node for dead, as last read."""
        taken = any(self.claims.owners[shard] != self.node for shard in self.held)
        return self.counter > 0 and (taken or self.node not in self.members)

    def owner_of(self, shard: int) -> Member | None:
        """Who owns a shard, as last read."""
        return self.members.get(self.claims.owners[shard])

    def read(self, claims: Claims, members: Iterable[Member], now_s: float, wall_us: int) -> Steps:
        """The store said this; `claims` were read before `members`, and the answer was there at `now_s`."""
        self.claims = claims
        self.members = {member.node: member for member in members}
        if (mine := self.members.get(self.node)) is not None:
            self.counter = max(self.counter, mine.counter)  # a beat whose answer was lost
        dead = self._look(now_s)
        if self.is_buried:
            return Steps([], None)
        self._hold()
        owners = self._wanted()
        below = [member for member in dead if member.counter >= claims.version]
        steps = Steps([member for member in dead if member.counter < claims.version], None)
        if owners == claims.owners and not below and not self._must_confirm():
            return steps
        self._given_up |= dict.fromkeys(self._given_up, claims.version)
        return steps._replace(claims=Claims(self._next_version(wall_us), owners))

    def gave_up(self, shards: Iterable[int]) -> None:
        """Nothing is done for these any more, and everything done is stored."""
        for shard in shards:
            self.held.discard(shard)
            self.leaving.discard(shard)
            self._given_up[shard] = self.claims.version

    def resigned(self, wall_us: int) -> Claims:
        """The claims without this node, which works no more."""
        owners = tuple(NOBODY if owner == self.node else owner for owner in self.claims.owners)
        return Claims(self._next_version(wall_us), owners)

    def _look(self, now_s: float) -> list[Member]:
        """Notice whose counters have changed, and lay the ring over the living; the dead."""
        before, self._sighted = self._sighted, {}
        for node, member in self.members.items():
            known = before.get(node)
            self._sighted[node] = known if known is not None and known[0] == member.counter else (member.counter, now_s)
        dead = [member for node, member in self.members.items() if self._is_dead(node, now_s)]
        living = sorted({self.node, *self.members} - {member.node for member in dead})
        if tuple(living) != self._ring.slots:
            self._ring = Ring(living)
        return dead

    def _is_dead(self, node: str, now_s: float) -> bool:
        return node != self.node and (node in self._dead or now_s - self._sighted[node][1] >= self.lease_s)

    def _hold(self) -> None:
        """Take what was claimed for us, and see what is to be left."""
        for shard, owner in enumerate(self.claims.owners):
            if owner == self.node and self._is_ours(shard) and self._is_confirmed(shard):
                self._given_up.pop(shard, None)
                self.held.add(shard)
        self.leaving |= {shard for shard in self.held if not self._is_ours(shard)}

    def _wanted(self) -> tuple[str, ...]:
        return tuple(self._next_owner(shard, owner) for shard, owner in enumerate(self.claims.owners))

    def _next_owner(self, shard: int, owner: str) -> str:
        if owner == self.node and shard not in self.held and not self._is_ours(shard):
            self._given_up.setdefault(shard, self.claims.version)
            return self._ring.owner(_key(shard)) or NOBODY
        if owner not in self.members and self._is_ours(shard):
            return self.node
        return owner

    def _is_confirmed(self, shard: int) -> bool:
        """A hand-over of ours whose outcome was never heard may still be done, until the version has risen."""
        return shard not in self._given_up or self._given_up[shard] < self.claims.version

    def _must_confirm(self) -> bool:
        mine = (shard for shard in self._given_up if self.claims.owners[shard] == self.node)
        return any(self._is_ours(shard) and not self._is_confirmed(shard) for shard in mine)

    def _is_ours(self, shard: int) -> bool:
        return self._ring.owner(_key(shard)) == self.node

    def _next_version(self, wall_us: int) -> int:
        """Above every number that anybody's writes may bear."""
        return max(self.claims.version, self.counter, wall_us - 1, *(member.counter for member in self.members.values())) + 1


def _key(shard: int) -> bytes:
    return b"shard %d" % shard
