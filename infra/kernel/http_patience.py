"""HttpPatience: how long one HTTP connection may keep us waiting, and for what. Pure."""

import math
from enum import Enum
from typing import NamedTuple


class Awaited(Enum):
    """The thing that a connection is in the middle of. It is we who work during `ANSWER`; during all others the client keeps us waiting."""

    HEAD = "head"
    BODY = "body"
    ANSWER = "answer"
    READING = "reading"
    NEXT = "next"
    END = "end"


class HttpPatience(NamedTuple):
    """The times for which we wait, in seconds.

    - `head_s`: for the whole head of a request, from its first byte, or from the beginning of the connection.
    - `body_s`: between two pieces of a body.
    - `reading_s`: for a client that does not read its answer.
    - `next_s`: for the next request.
    - `end_s`: for the client to close, when we have.
    """

    head_s: float
    body_s: float
    reading_s: float
    next_s: float
    end_s: float

    def limit_s(self, awaited: Awaited) -> float:
        """Returns how long `awaited` may last."""
        match awaited:
            case Awaited.HEAD:
                return self.head_s
            case Awaited.BODY:
                return self.body_s
            case Awaited.READING:
                return self.reading_s
            case Awaited.NEXT:
                return self.next_s
            case Awaited.END:
                return self.end_s
            case Awaited.ANSWER:
                return math.inf


class Waiting:
    """The clock of one connection, which is looked at now and then."""

    __slots__ = ("_awaited", "_since_s")

    def __init__(self, now_s: float) -> None:
        self._awaited, self._since_s = Awaited.HEAD, now_s

    def heard(self, now_s: float) -> None:
        """Notes that a piece of a body has come."""
        if self._awaited is Awaited.BODY:
            self._since_s = now_s

    def is_over(self, awaited: Awaited, patience: HttpPatience, now_s: float) -> bool:
        """Returns whether a connection that is in the middle of `awaited` at `now_s` has been so for too long."""
        if awaited is not self._awaited:
            self._awaited, self._since_s = awaited, now_s
        return now_s - self._since_s >= patience.limit_s(awaited)
