"""Session: one client connection, from its handshake to its end. Pure; whoever has the socket subclasses it."""

from enum import Enum
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.grants import Grants
from infra.kernel.places import NOWHERE, HeldPlace
from infra.kernel.rates import LONG_AGO_S
from infra.kernel.topics import Topic
from infra.kernel.websocket import text_frame

from . import messages
from .bearer import NO_BEARER, TokenBearer
from .friends.friend_topics import FriendTopics
from .row import Member


class SessionState(Enum):
    """new --hello--> ready --fatal code, close or loss--> ended; new --anything else--> ended.

    Between new and ready it is asking, where somebody else has to let it in.
    """

    NEW = "new"
    ASKING = "asking"
    READY = "ready"
    ENDED = "ended"


# Which messages make sense when, and the code that answers the others. Executed by `AccessPointCore.receive`.
EXPECTED: Final[dict[SessionState, tuple[frozenset[type], str]]] = {
    SessionState.NEW: (frozenset({messages.HelloMessage}), "hello-first"),
    # Nothing is read meanwhile: what the client has said behind its hello waits for the answer.
    SessionState.ASKING: (frozenset(), "hello-first"),
    SessionState.READY: (
        frozenset(
            {
                messages.SubscribeMessage,
                messages.UnsubscribeMessage,
                messages.ActMessage,
                messages.LastMessage,
                messages.PullMessage,
                messages.SeenMessage,
                messages.ReadMessage,
                messages.ListMessage,
                messages.ChangeMessage,
                messages.HistoryMessage,
                messages.PrivateMessage,
                messages.PingMessage,
                messages.RefreshMessage,
            }
        ),
        "hello-again",
    ),
    SessionState.ENDED: (frozenset(), "going-away"),
}


class Session(Member):
    """One client, as the access point knows it.

    - `user`, `client`, `mobile`, `id`: known from its hello on.
    - `place`: the place of its connection at the door, which knows how many bad tokens have come from its address.
    - `bearer`: what the token says that it has shown last; `ends_s`: when it ends with that, unless it brings another one.
    - `heard_s`: when it last said anything; `pinged`: whether it was asked for a sign of life since.
    - `open_calls`: how many of its requests services have not answered yet.
    - `private_until_ms`: until when nobody sees what it plays, in milliseconds of Unix time; None while that is not known.
    - `since_s`: the Unix time of its hello.
    - `recoveries`: the numbers of those that are open; `follows_with_recovery`: the topics of which it wants to hear when it may miss
      something; `mark`: of the announcer, when it asked for the last of them.
    - `friends`: the topics that it follows because they are of friends; None if it does not ask for that.
    - `named_topics`, `speaking_full_s`, `patience_full_s`: see `pace.Paced`.
    """

    __slots__ = (
        "bearer",
        "client",
        "ends_s",
        "follows_with_recovery",
        "friends",
        "heard_s",
        "id",
        "mark",
        "mobile",
        "named_topics",
        "open_calls",
        "patience_full_s",
        "pinged",
        "place",
        "private_until_ms",
        "recoveries",
        "since_s",
        "speaking_full_s",
        "state",
        "user",
    )

    def __init__(self, now_s: float) -> None:
        super().__init__()
        self.state = SessionState.NEW
        self.place: HeldPlace = NOWHERE
        self.id = ""
        self.user = ""
        self.bearer: TokenBearer = NO_BEARER
        self.ends_s = 0
        self.client = ""
        self.mobile = False
        self.private_until_ms: int | None = None
        self.heard_s = now_s
        self.pinged = False
        self.since_s = 0.0
        self.open_calls = self.named_topics = 0
        self.recoveries: set[int] = set()
        self.follows_with_recovery: set[Topic] = set()
        self.mark = 0
        self.friends: FriendTopics | None = None
        self.speaking_full_s = self.patience_full_s = LONG_AGO_S

    @property
    def expires_s(self) -> float:
        """When its token expires: Unix time, without the skew of clocks that is forgiven."""
        return self.bearer.expires_s

    @property
    def issued_s(self) -> float:
        """When its token was issued: Unix time, 0 where the token does not say so."""
        return self.bearer.issued_s

    @property
    def token_id(self) -> str:
        """The `jti` of its token, "" where it has none."""
        return self.bearer.id

    @property
    def grants(self) -> Grants | None:
        """What its token allows it to follow; None where it does not narrow that."""
        return self.bearer.grants

    def say(self, message: bytes) -> None:
        """Sends one message behind the events that it has been given, or has it wait with them while the client does not read.

        Every byte counts against the bound.
        """
        if self.outbox is not None:
            self.outbox.say(message)
        elif self.chunks:
            chunks, self.chunks = self.chunks, []
            self.answer(b"".join([*chunks, text_frame(message)]))
        else:
            self.answer(text_frame(message))

    def answer(self, frame: bytes) -> None:
        """Gives `frame` to the socket. Frames that one read brings about may be given to it together, behind what else it brings."""
        self.write(frame)

    def expect(self, message: messages.ClientMessage) -> None:
        """Raises `Refused` unless `message` makes sense in this state."""
        allowed, code = EXPECTED[self.state]
        if type(message) not in allowed:
            raise Refused(code)

    def end(self, refused: Refused, reconnect_in_ms: int | None = None) -> None:
        """Tells the client why, and closes; `reconnect_in_ms` says when to come back."""
        raise TypeError(f"{type(self).__name__} must say how it ends")

    def let_in(self) -> None:
        """Reads on, since somebody has let it in."""

    def ping(self) -> None:
        """Asks for a sign of life."""
        raise TypeError(f"{type(self).__name__} must say how it pings")
