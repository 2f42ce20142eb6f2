"""The errors of the SDK.

SegueError
├── Refused          the server said no: `code` is a row of the code table, `reason` says what exactly was wrong
├── ConnectionLost   no answer came; `code` and `retry_after_s` are set where the server said why and for how long
├── Stalled          an answer cannot be reached because the application does not read its events
├── ProtocolError    the other side does not speak segue.v1
└── Misuse           the SDK was used in a way that cannot work; the message says what to write instead
"""

from infra.kernel.codes import BY_NAME, BY_NUMBER, Code
from infra.kernel.errors import Refused, SegueError

__all__ = ["ConnectionLost", "Misuse", "ProtocolError", "Refused", "SegueError", "Stalled", "code_of", "refusal"]


class ConnectionLost(SegueError):  # noqa: N818 - it names what happened
    """The end of a connection before an answer came, or a connection that never came about. What was asked was done, or not.

    - `reason`: what happened.
    - `code`: the row of the code table that the server named; None if it named none.
    - `retry_after_s`: how long the server asks clients to stay away; None if it does not.
    - `is_final`: an operator does not want the client to come back by itself, whatever the code says.
    """

    def __init__(self, reason: str, code: Code | None = None, retry_after_s: float | None = None, *, is_final: bool = False) -> None:
        self.is_final = is_final
        self.reason = reason
        self.code = code
        self.retry_after_s = retry_after_s
        super().__init__(f"{code.name}: {reason}" if code else reason)


class Stalled(SegueError):  # noqa: N818 - it names what happened
    """An answer that stands behind events that nobody takes. Iterate over the client in another task than the one that calls."""


class ProtocolError(SegueError):
    """A message of the other side that is not segue.v1."""


class Misuse(SegueError, RuntimeError):  # noqa: N818 - it names what happened
    """A call that cannot work; the message says what to write instead."""


def code_of(name: str | None = None, number: int | None = None) -> Code | None:
    """Returns the row of the code table with this `name` or, failing that, this `number`.

    Returns None when the table has neither: the server is newer than this SDK.
    """
    by_name = BY_NAME.get(name) if name else None
    return by_name or (BY_NUMBER.get(number) if number else None)


def refusal(name: str, reason: str) -> Refused:
    """Returns the error for a refusal with the code `name`. A name that this version does not know becomes `internal-error`, and its words
    go into the reason."""
    return Refused(name, reason) if name in BY_NAME else Refused("internal-error", f"{name}: {reason}")
