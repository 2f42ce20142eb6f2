"""What a service publishes and what comes of it (design 4.2). Pure."""

from typing import Any

import msgspec

from segue.sdk.errors import Misuse, ProtocolError, code_of


class Publication(msgspec.Struct, frozen=True):
    """One event to publish. `payload` is a JSON object. `id` makes repeating safe: a broker drops an id that it has seen
    lately on the topic. An empty one is given by the publisher before the first try."""

    topic: str
    kind: str
    payload: dict[str, Any]
    id: str = ""

    def line(self) -> bytes:
        """The event as one line of NDJSON, without its end. Raises Misuse if the payload is not JSON."""
        try:
            return msgspec.json.encode(self)
        except (TypeError, ValueError, RecursionError) as error:
            raise Misuse(f"the payload of a {self.kind!r} event on {self.topic} cannot be written as JSON: {error}") from error


class Rejection(msgspec.Struct, frozen=True):
    """The event at `index` (from 0, in the order given) was not accepted; `code` is a name of the code table."""

    index: int
    code: str
    reason: str = ""


class Result(msgspec.Struct, frozen=True):
    """How many events the brokers took, and which they did not. Taken means queued to every interested link, not stored."""

    accepted: int = 0
    rejected: tuple[Rejection, ...] = ()


class PendingBatch:
    """Events on their way to a broker, which may take several tries.

    An event rejected with a code that allows trying again (its owner cannot be reached now, say) waits for the next
    try; every other answer is final.
    """

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines
        self._waiting = list(range(len(lines)))
        self._rejected: dict[int, Rejection] = {}

    @property
    def is_done(self) -> bool:
        """Whether every event has its final answer."""
        return not self._waiting

    def body(self) -> bytes:
        """NDJSON of the events that wait."""
        return b"\n".join([self._lines[position] for position in self._waiting])

    def answered(self, result: Result) -> None:
        """Notes what a broker said of `body()`. Raises ProtocolError if it speaks of an event that was not there."""
        tried = self._waiting
        answers: dict[int, Rejection] = {}
        for rejection in result.rejected:
            if not 0 <= rejection.index < len(tried):
                raise ProtocolError(f"the broker rejected event {rejection.index} of {len(tried)}")
            position = tried[rejection.index]
            answers[position] = Rejection(position, rejection.code, rejection.reason)
        self._waiting = [position for position in tried if position in answers and _can_try_again(answers[position])]
        for position in tried:
            self._rejected.pop(position, None)
        self._rejected |= answers

    def result(self) -> Result:
        """What is known now; events that wait are among the rejected, with the reason they were given last."""
        return Result(len(self._lines) - len(self._rejected), tuple(self._rejected[position] for position in sorted(self._rejected)))


def _can_try_again(rejection: Rejection) -> bool:
    code = code_of(rejection.code)
    return code is not None and code.reconnect
