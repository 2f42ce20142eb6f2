"""What is said to the hook, and what its answers mean. Pure.

Every doubt is decided against the user: what was not understood lets nobody in, and what was not named is not seen.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.json_text import read_json
from infra.kernel.printable import printable
from infra.kernel.topics import Topic, format_topic

# Longer reasons are cut: they stand in answers to clients.
MAX_REASON_CHARS: Final = 200
# An answer that names each of 2,000 topics twice, with reasons, is shorter.
MAX_ANSWER_BYTES: Final = 1 << 20


class HookReply(NamedTuple):
    """An HTTP answer of the hook. `is_whole`: whether `body` is all of it."""

    status: int
    body: bytes
    is_whole: bool


class ConnectQuestion(msgspec.Struct, frozen=True):
    """A question whether a user may come in. `client` is the name of the device, and `node` the access point at `site`."""

    user: str
    client: str
    device: str
    site: str
    node: str


class TopicsQuestion(msgspec.Struct, frozen=True):
    """A question which topics a user may see."""

    user: str
    topics: list[str]
    site: str
    node: str


class ConnectAnswer(msgspec.Struct, frozen=True):
    """An answer whether a user may come in, and why not."""

    allow: bool
    reason: str = ""


class TopicsAnswer(msgspec.Struct, frozen=True):
    """An answer with the topics that a user may see. Of others `refused` says why, if there is more to say."""

    allowed: list[str]
    refused: dict[str, str] = {}


_CONNECT: Final = msgspec.json.Decoder(ConnectAnswer)
_TOPICS: Final = msgspec.json.Decoder(TopicsAnswer)


def read_connect(reply: HookReply) -> Refused | None:
    """Returns None for a user who may come in, else why not."""
    refused = _check_status(reply)
    if refused is not None:
        return refused
    try:
        answer = read_json(reply.body, _CONNECT)
    except Refused:
        return _nonsense('{"allow": true} or {"allow": false, "reason": "…"}')
    return None if answer.allow else _forbidden(answer.reason, "you may not come in")


def read_topics(reply: HookReply, topics: Sequence[Topic]) -> list[Refused | None] | Refused:
    """Returns for each of `topics` None, or why the user may not see it; or why nothing of it is said."""
    refused = _check_status(reply)
    if refused is not None:
        return [refused] * len(topics) if refused.code.name == "forbidden" else refused
    try:
        answer = read_json(reply.body, _TOPICS)
    except Refused:
        return _nonsense('{"allowed": ["hm://…"], "refused": {"hm://…": "why"}}')
    allowed = set(answer.allowed).difference(answer.refused)
    uris = map(format_topic, topics)
    return [None if uri in allowed else _forbidden(answer.refused.get(uri, ""), f"you may not see {uri}") for uri in uris]


def _check_status(reply: HookReply) -> Refused | None:
    if reply.status == 403:
        return Refused("forbidden", "the server that was asked does not let you")
    if reply.status != 200:
        return Refused("unavailable", f"the server that says who may do this answered {reply.status}; try again")
    if not reply.is_whole:
        return Refused("unavailable", "the server that says who may do this answered too much, or broke off; try again")
    return None


def _nonsense(wanted: str) -> Refused:
    return Refused("unavailable", f"the server that says who may do this must answer {wanted}")


def _forbidden(reason: str, otherwise: str) -> Refused:
    return Refused("forbidden", printable(reason[:MAX_REASON_CHARS]) or otherwise)
