"""Publications of a service and their results (design 4.2). Pure."""

from typing import Any

import msgspec

from segue.sdk.errors import Misuse, ProtocolError, code_of


class Publication(msgspec.Struct, frozen=True):
    """One event to publish.

    - `topic`: where, such as `hm://presence/user/bob/`.
    - `kind`: what happened, such as `play`.
    - `payload`: what there is to say about it, a JSON object.
    - `id`: makes repeating safe, for a broker drops an id that it has seen lately on the topic. Where it is empty, the publisher gives
      one before the first try.
    """

    topic: str
    kind: str
    payload: dict[str, Any]
    id: str = ""

    def line(self) -> bytes:
        """Returns the event as one line of NDJSON, without its end. Raises Misuse if the payload is not JSON."""
        try:
            return msgspec.json.encode(self)
        except (TypeError, ValueError, RecursionError) as error:
            raise Misuse(f"the payload of a {self.kind!r} event on {self.topic} cannot be written as JSON: {error}") from error


class Rejection(msgspec.Struct, frozen=True):
    """An event that was not accepted.

    - `index`: its position in the order given, from 0.
    - `code`: a name of the code table.
    - `reason`: what exactly is wrong.
    """

    index: int
    code: str
    reason: str = ""


class Result(msgspec.Struct, frozen=True):
    """The result of publishing: how many events the brokers accepted, and which they rejected.

    Accepted means queued to every interested link, not stored.
    """

    accepted: int = 0
    rejected: tuple[Rejection, ...] = ()


class PendingBatch:
    """Events on their way to a broker, which may take several tries.

    An event may be rejected with a code that allows trying again, for example because its owner cannot be reached now. It waits for the
    next try. Every other answer is final.
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
        """Returns the events that wait, as NDJSON."""
        return b"\n".join([self._lines[position] for position in self._waiting])

    def answered(self, result: Result) -> None:
        """Takes what a broker answered to `body()`. Raises ProtocolError if it speaks of an event that was not there."""
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
        """Returns what is known now. Events that wait are among the rejected, with the reason that they were given last."""
        return Result(len(self._lines) - len(self._rejected), tuple(self._rejected[position] for position in sorted(self._rejected)))


def _can_try_again(rejection: Rejection) -> bool:
    code = code_of(rejection.code)
    return code is not None and code.reconnect
