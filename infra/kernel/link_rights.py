"""What a node may say to another one: one table of all links, which every node enforces (DPS-24).

Rule: what a peer may say follows from who it has proved to be (`link_handshake`), and from nothing that it says later. What is not in the
table ends the link. So a presence node that was broken into can tell lies about presence, and nothing else.

A row is a sort of link: who calls, who is called, and whether both are of one site. Heartbeats and goodbyes go on every link.

A frame of a kind, or a call of an op, that this version does not know at all is no breach of the table: a newer peer may have more to say.
The decoder refuses the first, and the role that is called says that it does not know the second.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from . import frames as f
from .errors import Refused
from .orders import ORDER_OP
from .roles import ACCESSPOINT, AGGREGATOR, ARTIST, BROKER, DECISION, NOTIFICATION, PLAYLIST, PRESENCE, SOCIAL
from .topics import Kind, kind_of

Where = Literal["one site", "two sites", "any site"]
FrameKind = type[f.Frame]

EVERY_KIND: Final = frozenset(Kind)
# Engine inputs are exactly three (SB-45). A service with a link or a token may publish on these kinds and no others.
SERVICE_KINDS: Final[dict[str, frozenset[Kind]]] = {
    PRESENCE: frozenset({Kind.USER}),
    PLAYLIST: frozenset({Kind.PLAYLIST}),
    NOTIFICATION: frozenset({Kind.PLAYLIST, Kind.ARTIST, Kind.SOCIAL, Kind.INBOX}),
}


class Rights(NamedTuple):
    """The rights of one side of a link.

    - `frames`: kinds of frames, besides those that go on every link.
    - `ops`: what a `Call` may ask for.
    - `kinds`: the kinds of topics on which a `Publish` may have events.
    """

    frames: frozenset[FrameKind]
    ops: frozenset[str] = frozenset()
    kinds: frozenset[Kind] = frozenset()

    @property
    def unquestioned(self) -> frozenset[FrameKind]:
        """The kinds of frames that may be said whatever is in them."""
        looked_into = {f.Call} if self.kinds is EVERY_KIND else {f.Call, f.Publish}
        return self.frames - looked_into

    def refusal(self, frame: f.Frame, who: str) -> Refused | None:
        """Returns why `who` may not say `frame`; None if they may."""
        kind = type(frame)
        if kind not in self.frames:
            return Refused("bad-link-frame", f"{kind.__name__} from {who} makes no sense here")
        if kind is f.Call:
            return self._refused_call(frame, who)  # type: ignore[arg-type]
        if kind is f.Publish and self.kinds is not EVERY_KIND:
            return self._refused_events(frame, who)  # type: ignore[arg-type]
        return None

    def _refused_call(self, call: f.Call, who: str) -> Refused | None:
        if call.op in self.ops or call.op not in ALL_OPS:
            return None
        return Refused("forbidden", f"{who} may not call {call.op} here, only {', '.join(sorted(self.ops))}")

    def _refused_events(self, frame: f.Publish, who: str) -> Refused | None:
        if self.kinds.issuperset(map(kind_of, frame.topics)):  # type: ignore[arg-type]  # the codec has checked them
            return None
        return Refused("forbidden", f"{who} may publish on {', '.join(sorted(self.kinds))} topics only")


class LinkKind(NamedTuple):
    """A row of the table: the roles of both sides, where they are, and what each may say."""

    caller: str
    called: str
    where: Where
    caller_says: Rights
    called_says: Rights

    def is_of(self, caller: f.Hello, called: f.Hello) -> bool:
        """Returns whether a link between these two is of this kind."""
        place = "one site" if caller.site == called.site else "two sites"
        return (self.caller, self.called) == (caller.role, called.role) and self.where in (place, "any site")


def _says(*kinds: FrameKind, ops: Iterable[str] = (), publishes: frozenset[Kind] = frozenset()) -> Rights:
    if ops:
        kinds = (*kinds, f.Call)
    if publishes:
        kinds = (*kinds, f.Publish)
    return Rights(_ALWAYS.union(kinds), frozenset(ops), publishes)


def _calls(
    caller: str, called: str, where: Where, *ops: str, answers: Sequence[FrameKind] = (), besides: Sequence[FrameKind] = ()
) -> LinkKind:
    """Returns the row of a link by which services are asked. `besides`: what else the caller says; `answers`: the called."""
    return LinkKind(caller, called, where, _says(*besides, ops=ops), _says(f.Reply, *answers))


_ALWAYS: Final[frozenset[FrameKind]] = frozenset({f.Heartbeat, f.Bye})
_WANTS: Final = (f.Subscribe, f.Unsubscribe)
_FOLLOW: Final = ("follow", "unfollow")
# What is said of windows to those who follow for clients.
_RECALLS: Final = (f.Keeps, f.Recalled, f.Lost)
# What a broker tells everybody, and an aggregator its access points.
_NEWS: Final = (f.Revoked,)

LINK_KINDS: Final = (
    LinkKind(
        ACCESSPOINT,
        AGGREGATOR,
        "one site",
        _says(*_WANTS, f.Recall, f.Fence, f.Staying, f.Reply),
        _says(f.Deliver, f.Applied, f.Fenced, f.Leaving, *_RECALLS, *_NEWS, ops=[ORDER_OP]),
    ),
    LinkKind(
        AGGREGATOR,
        BROKER,
        "one site",
        _says(*_WANTS, f.Recall, f.Resume, f.Bereft, f.Announced, f.Settled, f.Reply),
        _says(f.Deliver, f.Applied, f.Sealed, f.Inherited, *_RECALLS, *_NEWS, ops=[ORDER_OP]),
    ),
    LinkKind(
        BROKER,
        BROKER,
        "one site",
        _says(
            f.Leaving,
            f.Settled,
            f.Moved,
            f.KeptEvents,
            f.Past,
            f.Strayed,
            f.Sealed,
            f.Apart,
            f.Copies,
            f.RingWish,
            *_NEWS,
            publishes=EVERY_KIND,
        ),
        _says(f.Published, f.CopiesHeld, f.Reply, *_NEWS),
    ),
    LinkKind(
        BROKER,
        BROKER,
        "two sites",
        _says(*_WANTS, f.Resume, f.Bereft, f.Announced, f.Settled, f.Reply, *_NEWS, ops=[ORDER_OP]),
        _says(f.Deliver, f.Applied, f.Sealed, f.Inherited, f.Reply, *_NEWS, ops=[ORDER_OP]),
    ),
    *(LinkKind(role, BROKER, "one site", _says(publishes=kinds), _says(f.Published, *_NEWS)) for role, kinds in SERVICE_KINDS.items()),
    *(LinkKind(role, BROKER, "one site", _says(), _says(*_NEWS)) for role in (SOCIAL, ARTIST)),
    LinkKind(DECISION, BROKER, "any site", _says(f.Survey, f.Assignment), _says(f.Tally, f.Surveyed, *_NEWS)),
    LinkKind(ACCESSPOINT, DECISION, "any site", _says(f.Followed, f.Unfollowed, f.Surveyed), _says(f.Survey, f.Assignment)),
    _calls(ACCESSPOINT, PRESENCE, "one site", "act", "last", besides=[f.Here, f.Gone]),
    _calls(ACCESSPOINT, NOTIFICATION, "any site", "pull", "list", "seen", "read", "change", "history"),
    _calls(ACCESSPOINT, PLAYLIST, "any site", *_FOLLOW, "followed", answers=[f.Barred]),
    _calls(ACCESSPOINT, ARTIST, "any site", *_FOLLOW),
    _calls(ACCESSPOINT, SOCIAL, "any site", *_FOLLOW, "followed", "may-see", "who-may-see", "private", "is-private", answers=[f.Barred]),
    _calls(PRESENCE, PRESENCE, "any site", "last", "whereabouts"),
    _calls(NOTIFICATION, PRESENCE, "one site", "whereabouts"),
    _calls(NOTIFICATION, NOTIFICATION, "any site", "append", "refresh", "schedule"),
    _calls(PLAYLIST, PRESENCE, "one site", "act"),
    _calls(
        PLAYLIST, SOCIAL, "one site", "friends", "is-friend", "post", "may-see", "may-edit", "who-sees", "visibility", answers=[f.Barred]
    ),
    _calls(SOCIAL, PLAYLIST, "one site", "follow-owner", "unfollow-owner", "prune"),
)
ALL_OPS: Final = frozenset(op for row in LINK_KINDS for side in (row.caller_says, row.called_says) for op in side.ops)


def rights_of_peer(mine: f.Hello, peer: f.Hello, *, we_called: bool, table: Sequence[LinkKind] = LINK_KINDS) -> Rights:
    """Returns what the `peer` of a link may say. Raises Refused where nodes of these roles and sites have no link."""
    caller, called = (mine, peer) if we_called else (peer, mine)
    for row in table:
        if row.is_of(caller, called):
            return row.called_says if we_called else row.caller_says
    raise Refused("wrong-peer", f"a {caller.role} of {caller.site} has nothing to say to a {called.role} of {called.site}")
