"""Orders: what an operator has done at all access points, and what they answer. Pure.

An order goes from a broker to the aggregators of its site and from them to their access points, and to one broker of every other site,
which does the same there. It is the body of a `Call`, and the answers are those of the `Reply`.
"""

from collections.abc import Iterable
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from .json_text import read_json

# The op of a `Call` that carries an order.
ORDER_OP: Final = "order"
# How long each hop waits for the next one. Each waits a little longer than the one after it, so that those that are late have names.
POINT_S: Final = 1.0
SITE_S: Final = 1.4
FAR_S: Final = 1.8
# So much of a user's sessions is told by each access point; how many there are is told in any case.
SESSIONS_TOLD: Final = 50
TOPICS_TOLD: Final = 50
# An aggregator passes on so much; whoever answers beyond it counts as missing. A frame may be twice as long.
MAX_ANSWER_BYTES: Final = 4 << 20


OrderId: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]


class SessionsOrder(msgspec.Struct, frozen=True, tag_field="order", tag="sessions"):
    """Tell the sessions of `user`."""

    id: OrderId
    user: str


class DisconnectOrder(msgspec.Struct, frozen=True, tag_field="order", tag="disconnect"):
    """End the sessions of `user`, or the one whose id is `session`. The client may come back at once if `may_return`."""

    id: OrderId
    user: str
    session: str
    may_return: bool


class UnsubscribeOrder(msgspec.Struct, frozen=True, tag_field="order", tag="unsubscribe"):
    """End what `user` follows of `topic`, an `hm://` form, on every session."""

    id: OrderId
    user: str
    topic: str


class AnnounceOrder(msgspec.Struct, frozen=True, tag_field="order", tag="announce"):
    """Tell `text`, and `data` for the application, to every session."""

    id: OrderId
    text: str
    data: msgspec.Raw = msgspec.Raw(b"{}")


Order = SessionsOrder | DisconnectOrder | UnsubscribeOrder | AnnounceOrder


class SessionRow(msgspec.Struct, frozen=True):
    """One session of a user.

    - `topics`: the first of the topics that it follows; `topic_count` is how many there are.
    - `waiting_bytes`: how much waits because the client reads slowly.
    """

    user: str
    session: str
    site: str
    node: Annotated[str, msgspec.Meta(description="The access point.")]
    client: str
    device: Literal["desktop", "mobile"]
    since_ms: Annotated[int, msgspec.Meta(description="Unix time of its hello, in milliseconds.")]
    token_id: Annotated[str, msgspec.Meta(description="The id (`jti`) of its token; empty if it has none.")]
    topic_count: int
    topics: list[str]
    waiting_bytes: Annotated[int, msgspec.Meta(description="What waits because the client reads slowly.")]


class PointAnswer(msgspec.Struct, frozen=True):
    """The answer of the access point `point`, such as "sto/ap1": how many sessions the order was about, and some of them."""

    point: str
    done: int
    sessions: list[SessionRow] = []


class Answers(msgspec.Struct, frozen=True):
    """The answers of several access points, and who did not answer in time: names of access points, aggregators and sites."""

    points: list[PointAnswer]
    missing: list[str]


_ENCODE: Final = msgspec.json.Encoder().encode
_ORDER: Final[msgspec.json.Decoder[Order]] = msgspec.json.Decoder(Order)
_POINT: Final = msgspec.json.Decoder(PointAnswer)
_ANSWERS: Final = msgspec.json.Decoder(Answers)


def body_of(order_or_answer: Order | PointAnswer | Answers) -> bytes:
    """Returns the body that says it."""
    return _ENCODE(order_or_answer)


def read_order(body: bytes) -> Order:
    """Returns the order in `body`. Raises `Refused` for what is none."""
    return read_json(body, _ORDER)


def read_point(body: bytes) -> PointAnswer:
    """Returns the answer of an access point. Raises `Refused` for what is none."""
    return read_json(body, _POINT)


def read_answers(body: bytes) -> Answers:
    """Returns the answers that an aggregator or a broker has gathered. Raises `Refused` for what are none."""
    return read_json(body, _ANSWERS)


def merged(parts: Iterable[Answers]) -> Answers:
    """Returns all answers as one, each access point once: while it moves it is asked by two aggregators. Who answered is not missing."""
    points: dict[str, PointAnswer] = {}
    missing: set[str] = set()
    for part in parts:
        points |= {answer.point: answer for answer in part.points}
        missing |= {*part.missing}
    return Answers([points[name] for name in sorted(points)], sorted(missing - points.keys()))
