"""The one table of error and close codes, shared by code, docs (`docs/codes.md`) and tests.

Rule: a *fatal* code ends the conversation. On a client's WebSocket its number is also the close code, and on an internal link it is the
reason of the goodbye. Over HTTP, `http` is the status. After a code that is not fatal, which is told in one `error` message, the
conversation goes on. `reconnect` tells a client whether trying again, unchanged, can help.
"""

from typing import Final, NamedTuple


class Code(NamedTuple):
    """One row of the table: number (4000-4999, legal as a WebSocket close code), name, and what it means."""

    number: int
    name: str
    text: str
    fatal: bool
    reconnect: bool
    http: int


_ROWS: Final = (
    # 40xx: the connection must end, nothing was wrong with what the client said; come back.
    Code(4000, "going-away", "this node is draining; reconnect after the hinted delay", True, True, 503),
    Code(4001, "slow-consumer", "the client reads more slowly than its topics speak", True, True, 503),
    Code(4002, "hello-timeout", "no hello arrived in time", True, True, 408),
    Code(4003, "heartbeat-timeout", "nothing was heard from the client, not even a pong", True, True, 408),
    Code(4004, "overloaded", "this node has as many connections as it may have", True, True, 503),
    Code(4005, "disconnected", "an operator has ended this session", True, True, 503),
    Code(4006, "flooding", "so much was sent for so long that this node stopped listening", True, True, 429),
    # 41xx: what was sent is wrong; sending it again will not help.
    Code(4100, "bad-frame", "the WebSocket frame breaks the protocol (binary, unmasked, reserved bits)", True, False, 400),
    Code(4101, "bad-utf8", "the text is not UTF-8", True, False, 400),
    Code(4102, "too-large", "the message is larger than the limit", True, False, 413),
    Code(4103, "bad-json", "the text is not JSON", False, False, 400),
    Code(4104, "unknown-op", "there is no such op", False, False, 400),
    Code(4105, "bad-field", "a field is missing or has the wrong type", False, False, 400),
    Code(4106, "hello-first", "the first message must be hello", True, False, 400),
    Code(4107, "hello-again", "hello was said already", False, False, 400),
    Code(4108, "too-many-topics", "more topics than one message or one connection may have", False, False, 400),
    Code(4109, "bad-topic", "the topic is not one of the hm:// forms", False, False, 400),
    Code(4110, "rate-limited", "too many messages in too short a time", False, True, 429),
    Code(4111, "bad-handshake", "the request is not a WebSocket handshake for segue.v1", True, False, 400),
    Code(4112, "bad-request", "the HTTP request cannot be understood", True, False, 400),
    Code(4113, "not-found", "there is nothing at this path", False, False, 404),
    Code(4114, "bad-method", "this path does not take this method", False, False, 405),
    Code(4115, "bad-content-type", "the body must be application/json or application/x-ndjson", False, False, 415),
    Code(4116, "conflict", "it has changed, or the same id stands for something else; look again", False, False, 409),
    Code(4117, "unknown-mark", "the inbox has no item with this mark: it is deleted, or too old", False, False, 404),
    Code(4118, "too-many-items", "more items than one message may name, or than may be changed in one inbox", False, False, 400),
    # 42xx: who you are, and what you may do.
    Code(4200, "bad-token", "the token is missing, malformed, forged or signed with an algorithm that is not allowed", True, False, 401),
    Code(4201, "token-expired", "the token has expired; fetch a new one", True, False, 401),
    Code(4202, "token-not-yet-valid", "the token is not valid yet; compare the clocks", True, False, 401),
    Code(4203, "wrong-user", "the token belongs to another user", True, False, 403),
    Code(4204, "forbidden", "the token does not allow this", False, False, 403),
    Code(4205, "token-revoked", "the token has been revoked; it will not be taken again", True, False, 401),
    Code(4206, "banned", "an operator keeps this user out for a time", True, False, 403),
    Code(4207, "origin-refused", "pages of this origin may not connect here", True, False, 403),
    # 43xx: not your fault, try again later.
    Code(4300, "unavailable", "the part that would answer cannot be reached now", False, True, 503),
    Code(4301, "draining", "this node is draining and takes nothing new", False, True, 503),
    Code(4302, "internal-error", "a defect of ours; it has been logged", False, True, 500),
    # 44xx: internal links.
    Code(4400, "bad-link-frame", "the peer sent bytes that are not a frame", True, True, 400),
    Code(4401, "version-mismatch", "the peer speaks another protocol version", True, False, 400),
    Code(4402, "duplicate-node", "another live process has the same node name", True, True, 409),
    Code(4403, "wrong-peer", "the peer's role or site is not the one configured for this address", True, False, 400),
    Code(4404, "silent-peer", "no heartbeat arrived in time", True, True, 408),
    Code(4405, "slow-link", "the peer reads more slowly than the link's bound allows", True, True, 503),
    Code(4406, "link-not-proved", "the peer has not proved that it is the node that it says it is", True, False, 401),
)  # fmt: skip

BY_NAME: Final[dict[str, Code]] = {row.name: row for row in _ROWS}
BY_NUMBER: Final[dict[int, Code]] = {row.number: row for row in _ROWS}
ALL: Final[tuple[Code, ...]] = _ROWS
