"""Who owns which shard, decided from what the store says (design 7). Pure.

Nodes. Each node raises a counter in the store, about once a second: that is its *beat*. A node whose counter has not changed
for `lease_s` of the reader's own time is dead, and is *buried*: its row is taken away, if the counter is still the same. A
node itself stops half of that after the *start* of its last beat that succeeded, so it has stopped before anybody buries it.
It goes on with what it had if it was not buried meanwhile. If it was, it begins anew under another name. Clocks of two
machines are never compared.

Shards. All *claims* are one row under a version; it is replaced if the version is still the same. A node whom the ring over
the living gives a shard that has no living owner claims it. A living node is never robbed: it alone hands over what it owns.
One node sees one shard in one of these states:

    state          what holds                                     kept in
    foreign        the claims name another node, or nobody        -
    owned          this node writes and works off its rows        `owned`
    handing over   it is still owned, but the ring gives it away  `owned`, `handing_over`
    handed over    its work is stored and forgotten, the claims   `_handed_over`: the version of the claims at that time
                   may still name this node

    state          the claims are read, and     the claims are read, and    `handed_over`    others buried
                   the ring gives it to us      the ring gives it away      was called       this node
    foreign        claimed, if its owner is     foreign                     -                -
                   gone; owned, if the claims
                   name us
    owned          owned                        handing over                -                lost: begin anew
    handing over   handing over                 handing over                handed over      lost: begin anew
    handed over    owned, if the version has    claimed for the node of     -                lost: begin anew
                   risen since; else the        the ring, then foreign
                   claims are written again

A hand-over goes on although the ring gives the shard back meanwhile: what was begun is not undone. Then the node has to see
the version rise before it owns the shard again. Its own write of the claims may have failed for it and still be on its way to
the store, and would give the shard to another node later.

What an owner writes bears a number (`FencingToken`) above that of every owner before it: a write that was under way when its
writer died, and arrives late, is refused or loses.
"""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from infra.kernel.errors import Unavailable
from infra.kernel.ring import Ring

from ..shards import SHARDS

NOBODY: Final = ""


class NodeRecord(NamedTuple):
    """A node as the store knows it.

    - `node`: a name for one life of one process.
    - `site`, `address`: where its links are.
    - `counter`: raised with each beat.
    """

    node: str
    site: str
    address: str
    counter: int


class Claims(NamedTuple):
    """The owner of each shard, or `NOBODY`. The version rises with each change."""

    version: int
    owners: tuple[str, ...]


class FencingToken(NamedTuple):
    """The mark of an owner on its writes: who writes, under which number."""

    node: str
    number: int


class Steps(NamedTuple):
    """The next steps: bury dead nodes, and replace the claims. After them the store is read again."""

    bury: list[NodeRecord]
    claims: Claims | None


UNCLAIMED: Final = Claims(0, (NOBODY,) * SHARDS)


class Ownership:
    """The view that one node has of all shards. Times are seconds of its own clock, which only goes forward.

    - `node`: its name; `dead` are names of nodes that are known to have ended.
    - `owned`: the shards that it owns.
    - `handing_over`: those of them that it is to hand over; `handed_over` is called when that is done.
    """

    def __init__(self, node: str, lease_s: float, dead: Collection[str] = ()) -> None:
        self.node, self.lease_s = node, lease_s
        self.claims = UNCLAIMED
        self.members: dict[str, NodeRecord] = {}
        self.owned: set[int] = set()
        self.handing_over: set[int] = set()
        self.counter = 0
        self._handed_over: dict[int, int] = {}
        self._dead = frozenset(dead)
        self._sighted: dict[str, tuple[int, float]] = {}
        self._valid_until_s = float("-inf")
        self._ring = Ring([node])

    # The own lease.

    def next_counter(self, wall_us: int) -> int:
        """Returns the counter for the next beat. It resembles a time, because writes bear it; only that it rises matters."""
        return max(self.counter + 1, wall_us)

    def beaten(self, counter: int, started_s: float) -> None:
        """Notes that the store has the counter of the beat that began at `started_s`."""
        self.counter = counter
        self._valid_until_s = started_s + self.lease_s / 2

    def is_valid(self, now_s: float) -> bool:
        """Returns whether nobody can have buried this node by `now_s`."""
        return now_s < self._valid_until_s

    def fence(self, now_s: float) -> FencingToken:
        """Returns what writes bear now. Raises Unavailable when the own lease has run out: nothing may be decided, stored or told."""
        if not self.is_valid(now_s):
            raise Unavailable("this node has not reached the store lately, and another may own its followers by now")
        # Both rise, and the version of the claims that name us is above the counter of whoever was buried before (`_next_version`).
        return FencingToken(self.node, max(self.counter, self.claims.version))

    # Shards.

    @property
    def is_buried(self) -> bool:
        """Whether others took this node for dead, as last read. Then all that it owned is lost."""
        taken = any(self.claims.owners[shard] != self.node for shard in self.owned)
        return self.counter > 0 and (taken or self.node not in self.members)

    def owner_of(self, shard: int) -> NodeRecord | None:
        """Returns the node that owns `shard`, as last read; None while it has no living owner."""
        return self.members.get(self.claims.owners[shard])

    def read(self, claims: Claims, members: Iterable[NodeRecord], now_s: float, wall_us: int) -> Steps:
        """Takes in what the store says, and returns what to do about it.

        - `claims`, `members`: read in this order. The other order would miss a node that joins and claims in between, and its
          shards would seem to have no living owner.
        - `now_s`: when the answers were there, by the own clock.
        - `wall_us`: Unix time in microseconds.
        """
        self.claims = claims
        self.members = {member.node: member for member in members}
        if (mine := self.members.get(self.node)) is not None:
            self.counter = max(self.counter, mine.counter)  # a beat whose answer was lost
        dead = self._look(now_s)
        if self.is_buried:
            return Steps([], None)
        self._own_claimed()
        owners = self._wanted()
        # Nobody is buried before the claims have a version above its counter: else a late write of the dead node would win
        # over that of the next owner, whose fence bears the version.
        below = [member for member in dead if member.counter >= claims.version]
        steps = Steps([member for member in dead if member.counter < claims.version], None)
        if owners == claims.owners and not below and not self._must_confirm():
            return steps
        # This write may be done although its answer is lost, so what was handed over waits for a version above this one.
        self._handed_over |= dict.fromkeys(self._handed_over, claims.version)
        return steps._replace(claims=Claims(self._next_version(wall_us), owners))

    def handed_over(self, shards: Iterable[int]) -> None:
        """Notes that nothing is done for `shards` any more, and that everything done is stored."""
        for shard in shards:
            self.owned.discard(shard)
            self.handing_over.discard(shard)
            self._handed_over[shard] = self.claims.version

    def resigned(self, wall_us: int) -> Claims:
        """Returns the claims without this node, which works no more."""
        owners = tuple(NOBODY if owner == self.node else owner for owner in self.claims.owners)
        return Claims(self._next_version(wall_us), owners)

    def _look(self, now_s: float) -> list[NodeRecord]:
        """Notes whose counters have changed, lays the ring over the living, and returns the dead."""
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

    def _own_claimed(self) -> None:
        """Owns what was claimed for us, and notes what is to be handed over."""
        for shard, owner in enumerate(self.claims.owners):
            if owner == self.node and self._is_ours(shard) and self._is_confirmed(shard):
                self._handed_over.pop(shard, None)
                self.owned.add(shard)
        self.handing_over |= {shard for shard in self.owned if not self._is_ours(shard)}

    def _wanted(self) -> tuple[str, ...]:
        return tuple(self._next_owner(shard, owner) for shard, owner in enumerate(self.claims.owners))

    def _next_owner(self, shard: int, owner: str) -> str:
        if owner == self.node and shard not in self.owned and not self._is_ours(shard):
            # Claimed for us or handed over by us, and now another's: nothing of it is under way here.
            self._handed_over.setdefault(shard, self.claims.version)
            return self._ring.owner(_key(shard)) or NOBODY
        if owner not in self.members and self._is_ours(shard):
            return self.node
        return owner

    def _is_confirmed(self, shard: int) -> bool:
        """Returns whether no write of ours can still give the shard away: the version has risen since it was handed over."""
        return shard not in self._handed_over or self._handed_over[shard] < self.claims.version

    def _must_confirm(self) -> bool:
        """Returns whether the claims must be written, unchanged, to raise the version: see the states above."""
        mine = (shard for shard in self._handed_over if self.claims.owners[shard] == self.node)
        return any(self._is_ours(shard) and not self._is_confirmed(shard) for shard in mine)

    def _is_ours(self, shard: int) -> bool:
        return self._ring.owner(_key(shard)) == self.node

    def _next_version(self, wall_us: int) -> int:
        """Returns a version above every number that anybody's writes may bear."""
        return max(self.claims.version, self.counter, wall_us - 1, *(member.counter for member in self.members.values())) + 1


def _key(shard: int) -> bytes:
    return b"shard %d" % shard
