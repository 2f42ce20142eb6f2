"""What the SDK raises.

SegueError
├── Refused          the server said no: `code` is a row of the code table, `reason` says what exactly was wrong
├── ConnectionLost   no answer came; `code` and `retry_after_s` are set when the server said why and for how long
├── Stalled          an answer cannot be reached because the application does not read its events
├── ProtocolError    the other side does not speak segue.v1
└── Misuse           the SDK was used in a way that cannot work; the message says what to write instead
"""

from infra.kernel.codes import BY_NAME, BY_NUMBER, Code
from infra.kernel.errors import Refused, SegueError

__all__ = ["ConnectionLost", "Misuse", "ProtocolError", "Refused", "SegueError", "Stalled", "code_of", "refusal"]


class ConnectionLost(SegueError):  # noqa: N818 - it names what happened
    """The connection ended, or never came about, before an answer arrived: what was asked may or may not have been done."""

    def __init__(self, reason: str, code: Code | None = None, retry_after_s: float | None = None) -> None:
        self.reason = reason
        self.code = code
        self.retry_after_s = retry_after_s
        super().__init__(f"{code.name}: {reason}" if code else reason)


class Stalled(SegueError):  # noqa: N818 - it names what happened
    """The answer stands behind events that nobody takes: iterate over the client in another task than the one that calls."""


class ProtocolError(SegueError):
    """The other side sent something that is not segue.v1."""


class Misuse(SegueError, RuntimeError):  # noqa: N818 - it names what happened
    """A call that cannot work; the message says what to write instead."""


def code_of(name: str | None = None, number: int | None = None) -> Code | None:
    """The row with this name or, failing that, this number; None when the table has neither (a newer server)."""
    by_name = BY_NAME.get(name) if name else None
    return by_name or (BY_NUMBER.get(number) if number else None)


def refusal(name: str, reason: str) -> Refused:
    """The error for a refusal by `name`. A name that this version does not know becomes `internal-error` and keeps its words."""
    return Refused(name, reason) if name in BY_NAME else Refused("internal-error", f"{name}: {reason}")
