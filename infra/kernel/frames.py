"""Frames: what nodes say to each other on a link, as values.

A link carries frames in order. On TCP each is length-prefixed MessagePack (`codec`). In memory the values themselves are handed over, so
nobody may change a list inside a frame after it was sent.

Subscription changes to one node are numbered (`n`, rising, also from one link to the next). The receiver answers with the cumulative
numbers that it and the sites behind it have installed (`Applied`). The subscribing side chooses a small integer *handle* for each topic.
Deliveries name handles, so that the receiver indexes a list instead of hashing a string (design 4.3).

A peer of the same protocol version may be newer than we are: elements that it appends to a frame are passed over.
"""

import sys
from collections.abc import Mapping
from typing import Annotated, Final

import msgspec

from .printable import printable
from .revocations import Ban, Revocation
from .ring import POINTS, Ring

PROTOCOL: Final = 1
# The highest tag of a frame that is understood here; what nodes understand that do not say it. A node may say more than an older
# peer can read, so a newer frame is only said to who understands it (`Link.knows`).
HIGHEST_TAG: Final = 47
OLD_TAG: Final = 24

Handle = Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]
# Counting on from the highest number must not lead out of what MessagePack can carry.
MOST_NUMBER: Final = (1 << 62) - 1
Number = Annotated[int, msgspec.Meta(ge=0, le=MOST_NUMBER)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9._-]+\Z")]
# No infinity, and not what is no number: clients are told it as JSON.
Seconds = Annotated[float, msgspec.Meta(ge=0, le=sys.float_info.max)]
Share = Annotated[int, msgspec.Meta(ge=0, le=POINTS)]
SlotShares = Annotated[dict[Name, Share], msgspec.Meta(max_length=256)]
# The user of a call that is about no single user: the frame always has a name there.
NOBODY: Final = "-"
# Epoch of a broker -> a stamp of its window (see `broker.window`).
Stamps = Annotated[dict[Number, Number], msgspec.Meta(max_length=1024)]
# So much of what a peer says of why it goes is told on.
MAX_SHOWN_CHARS: Final = 300


class View(msgspec.Struct, frozen=True, array_like=True):
    """A site's membership: the set of live slots under a number that rises with each change (design 6).

    - `shares`: how many points of the ring each of `slots` has taken; empty: all of them.
    - `goal`: how many each of them is to have in the end; empty: as many as it has.

    A peer of an older version passes over both, so a view that has them is issued only where all know them.
    """

    number: Number
    slots: tuple[Name, ...]
    shares: tuple[Share, ...] = ()
    goal: tuple[Share, ...] = ()

    @classmethod
    def of(cls, number: int, shares: Mapping[str, int], goal: Mapping[str, int]) -> "View":
        """Returns the view `number` in which each slot has its share of `shares`, on its way to that of `goal`."""
        slots = tuple(sorted(shares))
        now, then = tuple(shares[slot] for slot in slots), tuple(goal[slot] for slot in slots)
        is_full = set(now) <= {POINTS}
        return cls(number, slots, () if is_full else now, () if then == now else then)

    @property
    def order(self) -> tuple[int, tuple[str, ...], tuple[int, ...], tuple[int, ...]]:
        """What decides between two views: the higher one holds, everywhere."""
        return self.number, self.slots, self.shares, self.goal

    @property
    def is_sound(self) -> bool:
        """Whether it can be meant: shares are there for each slot or for none, and somebody owns the topics."""
        fits = {len(self.shares), len(self.goal)} <= {0, len(self.slots)}
        return fits and (not self.shares or any(self.shares)) and (not self.goal or any(self.goal))

    @property
    def share_of(self) -> dict[str, int]:
        """The share that each slot has."""
        return dict(zip(self.slots, self.shares or (POINTS,) * len(self.slots), strict=True))

    @property
    def goal_of(self) -> dict[str, int]:
        """The share that each slot is to have in the end."""
        return dict(zip(self.slots, self.goal, strict=True)) if self.goal else self.share_of

    @property
    def is_there(self) -> bool:
        """Whether every slot has the share that it is to have."""
        return not self.goal

    @property
    def ring(self) -> Ring:
        """Who owns what under this view."""
        return Ring(self.slots, shares=self.share_of)


class Frame(msgspec.Struct, frozen=True, array_like=True, tag_field="t", gc=False):
    """Base of all frames; the first array element is the tag."""


class Hello(Frame, tag=1, frozen=True):
    """The first frame, both ways. `incarnation` is new at each start of a process; `view` is that of the sender's own site.

    `tags`: the sender understands frames up to this tag.
    `nonce`: what the peer's `Proof` must answer; empty where the sender wants no proof.
    """

    role: Name
    node: Name
    site: Name
    incarnation: Number
    time_ms: Number
    view: View
    version: int = PROTOCOL
    tags: Number = OLD_TAG
    nonce: Annotated[bytes, msgspec.Meta(max_length=64)] = b""

    def knows(self, kind: type[Frame]) -> bool:
        """Returns whether the sender understands frames of this `kind`: one of an older version may not."""
        tag = kind.__struct_config__.tag
        return isinstance(tag, int) and tag <= self.tags


class Heartbeat(Frame, tag=2, frozen=True):
    """A sign of life, both ways, when the interval has passed. Any other frame counts as one, too. `stamps`: see `Deliver`."""

    view: View
    stamps: Stamps = {}


class Subscribe(Frame, tag=3, frozen=True):
    """Change `n`: the sender wants `topics[i]` delivered under `handles[i]`. Repeating a topic updates its handle, and its gain.

    `gains`: a byte for each topic, about how many clients follow it behind the sender (see `gains`); empty where this is not told.
    """

    n: Number
    handles: list[Handle]
    topics: list[bytes]
    gains: bytes = b""


class Unsubscribe(Frame, tag=4, frozen=True):
    """Change `n`: the sender no longer wants `topics`."""

    n: Number
    topics: list[bytes]


class Applied(Frame, tag=5, frozen=True):
    """All changes of the peer up to `n` are done here, and known to every delivery that follows.

    `sites`: all changes up to that number are installed at the site now. The number falls when something has to be installed anew.
    `stamps`: see `Deliver`. So a topic is not resumed from before it was wanted.
    """

    n: Number
    sites: dict[Name, Number]
    stamps: Stamps = {}


class Deliver(Frame, tag=6, frozen=True):
    """Events for the peer: `bodies[i]`, in the form that clients get, for the topic behind `handles[i]`.

    `stamps`: of what is recorded, everything up to here that the peer wants stands in this frame or before it.
    """

    handles: list[Handle]
    bodies: list[bytes]
    stamps: Stamps = {}


class Publish(Frame, tag=7, frozen=True):
    """Events for the owner of their topics: `tails` (see `events`), `ids` for duplicate checks (empty: none given)."""

    n: Number
    hops: Annotated[int, msgspec.Meta(ge=0, le=2)]
    topics: list[bytes]
    ids: list[bytes]
    tails: list[bytes]


class Published(Frame, tag=8, frozen=True):
    """All `Publish` frames of the peer up to `n` are in the owner's memory and queued to every interested link.

    - `failed`: the exceptions among those that were not acknowledged before. Some of their events may not have reached their owner.
    - `ahead`: those above `n` that are done as well, though earlier ones are not. When `n` has reached them they are said again, for peers
      of older versions, which pass over this.
    """

    n: Number
    failed: list[Number] = []
    ahead: list[Number] = []


class Call(Frame, tag=9, frozen=True):
    """A request to the service that answers it: one of a client that an access point relays, or one of another node.

    - `user`: whom it is about; `NOBODY` where that is no single user.
    - `client`: the client that asked; empty where a node asks for itself.
    - `queue`: calls of one queue are answered in the order in which they came. Empty, as older nodes leave it: the user's own queue.
    """

    n: Number
    user: Name
    client: str
    op: Name
    body: bytes
    queue: Annotated[str, msgspec.Meta(max_length=128)] = ""


class Reply(Frame, tag=10, frozen=True):
    """The answer to call `n`: the name of a code (empty: fine), the reason, and a body for the client (may be empty)."""

    n: Number
    code: str
    reason: str
    body: bytes


class Bye(Frame, tag=11, frozen=True):
    """The sender closes the link, with a row of the code table."""

    number: int
    reason: str

    @property
    def shown(self) -> str:
        """The reason, as it may stand in a log: the beginning of it, and nothing that a terminal would obey."""
        return printable(self.reason[:MAX_SHOWN_CHARS])


class Leaving(Frame, tag=12, frozen=True):
    """The sender is draining. A broker says it to the others of its site, which leave it out of the next view. An aggregator says it
    to its access points, which go to another one."""


class Announced(Frame, tag=13, frozen=True):
    """All that the sender wants of the peer's site under `view`, the newest that it knows of that site, is announced."""

    view: View


class Here(Frame, tag=14, frozen=True):
    """From an access point to presence: client `clients[i]` of `users[i]` is connected here, on `devices[i]` (bit 0: desktop, bit 1:
    mobile). It holds while this link lives, and replaces what was said of that client before."""

    users: list[Name]
    clients: list[str]
    devices: list[Annotated[int, msgspec.Meta(ge=1, le=3)]]


class Gone(Frame, tag=15, frozen=True):
    """Client `clients[i]` of `users[i]` has no connection to the sender any more."""

    users: list[Name]
    clients: list[str]


class Survey(Frame, tag=16, frozen=True):
    """From the decision service to a broker or an access point: what has changed since you were asked last? `Surveyed(n)` ends the
    answer."""

    n: Number


class Tally(Frame, tag=17, frozen=True):
    """From a broker: `counts[i]` events of this site have been published on `topics[i]`, which it owns."""

    topics: list[bytes]
    counts: list[Annotated[int, msgspec.Meta(ge=1, lt=1 << 62)]]


class Followed(Frame, tag=18, frozen=True):
    """From an access point: `users[i]` has begun to follow `topics[i]` here. It holds while this link lives."""

    users: list[Name]
    topics: list[bytes]


class Unfollowed(Frame, tag=19, frozen=True):
    """From an access point: `users[i]` follows `topics[i]` here no more."""

    users: list[Name]
    topics: list[bytes]


class Surveyed(Frame, tag=20, frozen=True):
    """The end of the answer to survey `n`. `epoch` is that of the assignment that holds here; 0: none was heard of."""

    n: Number
    epoch: Number = 0


class Assignment(Frame, tag=21, frozen=True):
    """The topics that brokers serve in real time from `epoch` on: all but those that have left. From the decision service to brokers
    and access points (thesis 6.1).

    - `base`: the epoch whose assignment it changes. With 0 it replaces everything, and `leave` names all topics that are out.
    - `last`: a large assignment is said in several frames of one epoch. It holds when the last one is there.
    - `leave`, `come`: topics that leave real time, and topics that come back.
    - `overlap_ms`: for so long, topics that leave are still served.
    - `every_ms`: after that, one event of each topic goes out in that time; 0: none.
    - `expected`, `bound`: subscribers (b3m), or a sum of fractions (fb3m).
    """

    epoch: Number
    base: Number
    last: bool
    leave: list[bytes]
    come: list[bytes]
    overlap_ms: Number
    every_ms: Number
    metric: Name
    threshold: Number
    capacity: Number
    expected: float
    bound: float
    run_ms: Number


class Fence(Frame, tag=22, frozen=True):
    """From an access point to an aggregator: answer with `Fenced(n)` when you have passed on all that brokers have sent you by now."""

    n: Number


class Fenced(Frame, tag=23, frozen=True):
    """The answer to `Fence(n)`: everything that brokers had sent here before it came has been sent to the peer before this."""

    n: Number


class Staying(Frame, tag=24, frozen=True):
    """From an access point to an aggregator that leaves: there is no other one that I could go to, do not wait for me."""


class Barred(Frame, tag=25, frozen=True):
    """From a service to an access point: what was answered about `askers[i]` and the topics of `owners[i]` holds no longer; ask again.

    Social says so of who may see what and of who follows whom, the playlist service of who follows which playlists.

    `NOBODY` as an asker means everybody. A pair of a user and the same user is about their private sessions.
    """

    owners: list[Name]
    askers: list[Name]


class Revoked(Frame, tag=26, frozen=True):
    """Tokens that are taken no more, and bans: all that the sender knows when a link comes up, and then what is news.

    It goes from brokers to all peers, and from aggregators to access points. `last`: with it, all that the sender knew has been said.
    """

    revocations: list[Revocation]
    bans: list[Ban]
    last: bool


class Settled(Frame, tag=31, frozen=True):
    """All is done that followed from the view `number` of the peer's site, so its next step may come; 0: of none yet.

    From who subscribes: everything is announced under it, and former owners are parted from. From a broker to those of its site: all who
    subscribe have said so. `knows`: everybody who is linked to the sender knows of shares.
    `taken`: from a broker: what has come to it up to that view is there, and other sites know that it is wanted here; 0: not yet.
    `unheard`: from a broker: the others of its site that it does not hear; None where it does not say.
    `anew`: from a broker: the view that holds there, if its slot has been to have nothing since before this process began; 0: not so.
    """

    number: Number
    knows: bool = True
    taken: Number = 0
    unheard: list[Name] | None = None
    anew: Number = 0


class Proof(Frame, tag=30, frozen=True):
    """The proof that the sender holds a secret of the peer's: it answers both hellos, after them (see `link_handshake`)."""

    mac: Annotated[bytes, msgspec.Meta(max_length=64)]


class Resume(Frame, tag=32, frozen=True):
    """The first frame of somebody who has come back, before they announce what they want: they have got everything up to `stamps`.

    What of it they wanted before they were cut off, and the peer still has, comes when they have said `Announced`, and then what is live.
    `known`: changes up to that number repeat what they wanted before. Later ones are new, and bring what is published from then on. 0: all
    that is said before `Announced` repeats.
    """

    stamps: Stamps
    known: Number = 0


class Moved(Frame, tag=33, frozen=True):
    """From the former owner of `topics` to the one that owns them under a newer view of their site: what goes with them.

    - `lasts[i]`: epoch and number of the last event that was numbered on `topics[i]`; (0, 0) where this is not said.
    - `ids[i]`: those of events that came on it lately.
    """

    topics: list[bytes]
    lasts: list[tuple[Number, Number]]
    ids: list[list[bytes]]


class Sealed(Frame, tag=34, frozen=True):
    """From a broker that has taken over `view`: behind this, nothing comes of what other brokers of its site own under it.

    To who subscribes: all that the broker had published on such topics stands before. To a broker of its site: all that goes with such
    topics does (`Moved`).
    """

    view: View


class Keeps(Frame, tag=35, frozen=True):
    """The past that windows of the sender's site keep: kind of topics -> `all` or `latest`, and for how many seconds.

    `copied`: the kinds whose events an heir has before anybody gets them (`copies = 1`).
    """

    kinds: dict[Name, tuple[Name, Seconds]]
    copied: list[Name] = []


class Recall(Frame, tag=36, frozen=True):
    """Question `n`, from an access point by way of its aggregator to the owners of `topics`: what has come on them?

    - `stamps`: up to where the asker has got everything.
    - `since`: for each topic the site, the epoch and the number of the last event of that site that the asker has; empty: of none.
    - `rest`: what is still there is wanted, too, where it is not all of it.
    """

    n: Number
    topics: list[bytes]
    stamps: Stamps
    since: list[list[tuple[Name, Number, Number]]] = []
    rest: bool = False


class Recalled(Frame, tag=37, frozen=True):
    """An answer, or a part of it, to question `n`: what follows on the link on these topics comes behind these events.

    - `reasons`: for each of `topics` why not everything is here (see `LossReason`); empty where it is.
    - `counts`: how many of `bodies` belong to each, in order.
    - `stamps`: up to where that is all of these topics; empty where it is not said.
    - `quiet`: for each of `topics` a stamp of `epoch` behind which nothing has come, up to `stamps`, for anybody who has got everything up
      to there; 0 where that is not said.
    """

    n: Number
    topics: list[bytes]
    reasons: list[Annotated[str, msgspec.Meta(max_length=32)]]
    counts: list[Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]]
    bodies: list[bytes]
    stamps: Stamps = {}
    epoch: Number = 0
    quiet: list[Number] = []


class Lost(Frame, tag=38, frozen=True):
    """A warning that something of `topics` may be missing, though no number shows it, for this `reason` (see `LossReason`).

    None named: of all that is the sender's.
    """

    topics: list[bytes]
    reason: Annotated[str, msgspec.Meta(max_length=32)]


class Apart(Frame, tag=39, frozen=True):
    """The word of a broker that it served topics under `view`, while others of its site went by one without it (DPS-19)."""

    view: View


class TenureChange(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A change of the ring as one broker has seen it, from the view `before` to `after`.

    - `over`: the stamp of its window from which on nothing of former owners was on its way any more; 0 while something may be.
    - `formers`: those that have handed it all that they had recorded of what came to it: slot -> epoch.
    """

    before: View
    after: View
    over: Number = 0
    formers: dict[Name, Number] = {}


class PastTenure(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The tenure of the broker `slot`, whose window counts stamps of `epoch`: what it has owned since when.

    - `end`: its newest stamp when it was said. All that it had recorded of topics that are others' by then stands before.
    - `evicted`: up to which stamp events went for want of memory; `too_old`: the same for age, by kind of topics.
    - `changes`: in order. `splits`: stamps up to which another part of the site went by a view.
    - `stream`: what came last is known by its place in this stream of copies (`Copies`), which counts like an epoch; 0: there is none.
    """

    epoch: Number
    slot: Name
    end: Number
    evicted: Number
    too_old: dict[Name, Number]
    changes: Annotated[list[TenureChange], msgspec.Meta(max_length=1024)]
    splits: Annotated[list[tuple[Number, View]], msgspec.Meta(max_length=1024)] = []
    stream: Number = 0


class KeptEvents(Frame, tag=40, frozen=True):
    """From the former owner of `topics` to the one that owns them under a newer view: what its window has of them (DPS-13).

    - `followed[i]`: whether the topic is, or was lately, followed at their site.
    - `counts[i]`: how many events of it there are among `bodies`, in order; a body that is no event is the site of one that is missing.
    - `epochs`, `stamps`: for each of `bodies`, under which stamp of which broker it was recorded.
    - `lost[i]`: epoch and stamp of the last event that is missing and not too old, and whether the topic was out of real time; zeros: none.
    - `replaced[i]`: epoch and stamp of the last event that a newer one replaced, and how many such there were; zeros: none.
    - `unheard[i]`: up to which of its events something may be missing that other sites published; one more than there are: it still may.
    """

    topics: list[bytes]
    followed: list[bool]
    counts: list[Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]]
    epochs: list[Number]
    stamps: list[Number]
    bodies: list[bytes]
    lost: list[tuple[Number, Number, bool]]
    replaced: list[tuple[Number, Number, Number]]
    unheard: list[Number] = []


class Past(Frame, tag=41, frozen=True):
    """The end of what a broker has handed over in the step to the view `number`, in `frames` frames (`KeptEvents`) to the peer.

    `tenures`: the sender's, and those of brokers whose events it has passed on. By them, stamps of these are understood.
    """

    number: Number
    frames: Number
    tenures: Annotated[list[PastTenure], msgspec.Meta(max_length=1024)]


class Strayed(Frame, tag=42, frozen=True):
    """Events of other sites that have come to the former owner of their topics, for the one that owns them now."""

    bodies: list[bytes]


class Copies(Frame, tag=43, frozen=True):
    """From the owner of topics to their heir, which would own them if the owner were not there: what it must have before others (DPS-18).

    - `stream`: counts like an epoch, over one link. `n`: the number of the last event that has come with it.
    - `parts`: as a former owner hands topics over. An event that nobody has got yet stands at (`stream`, its number).
    - `anew`: what came of these topics before, in this stream, counts no more.
    """

    stream: Number
    n: Number
    parts: Annotated[list[Moved | KeptEvents | Past], msgspec.Meta(max_length=16)]
    anew: bool = False


class CopiesHeld(Frame, tag=44, frozen=True):
    """The word of an heir: it has everything of `stream` up to the event `n`."""

    stream: Number
    n: Number


class Bereft(Frame, tag=45, frozen=True):
    """From who subscribes, before `Announced(view)`: the broker `slot` is gone without a word, and they have got its events up to `stamps`.

    An heir gives them what followed.
    """

    view: View
    slot: Name
    stamps: Stamps


class Inherited(Frame, tag=46, frozen=True):
    """The answer to `Bereft`: of the topics of `slot` that are the sender's now, all is here that anybody has got, if of these `kinds`.

    - `stamps`: up to where all has come now of what `slot` gave to the sender alone: the stream of copies, which counts like an epoch.
    - `ends`: up to where all has come of the epoch of `slot`, of these topics: of all others when all heirs have said so of theirs.
    """

    slot: Name
    kinds: list[Name]
    stamps: Stamps = {}
    ends: Stamps = {}


class RingWish(Frame, tag=47, frozen=True):
    """Wish `n` of an operator, from a broker to the one of its site that issues views. `Reply(n)` answers it, behind the view that follows.

    - `goal`: the shares that slots are to have in the end; others keep what they are to have. None: the ring is to stay where it is.
    - `before`: where the ring was to go when that was decided. Where it is to go elsewhere by now, the wish is a conflict.
    """

    n: Number
    goal: SlotShares | None = None
    before: SlotShares = {}


AnyFrame = (
    Hello
    | Heartbeat
    | Subscribe
    | Unsubscribe
    | Applied
    | Deliver
    | Publish
    | Published
    | Call
    | Reply
    | Bye
    | Leaving
    | Announced
    | Here
    | Gone
    | Survey
    | Tally
    | Followed
    | Unfollowed
    | Surveyed
    | Assignment
    | Fence
    | Fenced
    | Staying
    | Barred
    | Revoked
    | Settled
    | Resume
    | Moved
    | Sealed
    | Keeps
    | Recall
    | Recalled
    | Lost
    | Apart
    | KeptEvents
    | Past
    | Strayed
    | Copies
    | CopiesHeld
    | Bereft
    | Inherited
    | RingWish
    | Proof
)
