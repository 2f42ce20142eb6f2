"""The exception tree.

SegueError
├── Refused          the other side asked for something that has a row in the code table
│   ├── GoingAway    an access point goes, and says from where its client can recover elsewhere
│   └── SentAway     an operator has ended a session, and the client is not to come back by itself
├── Unavailable      a store or service cannot answer now; repeating the same is safe
└── ConfigError      what the operator wrote cannot be used; the message says what to write instead
"""

from .codes import BY_NAME, Code


class SegueError(Exception):
    """Base of everything that Segue raises on purpose."""


class Refused(SegueError):  # noqa: N818 - it is an answer, and reads as one
    """An answer from the code table: `code` goes to the peer, `reason` says what exactly was wrong."""

    def __init__(self, name: str, reason: str = "") -> None:
        self.code: Code = BY_NAME[name]
        self.reason: str = reason or self.code.text
        super().__init__(f"{name}: {self.reason}")


class SentAway(Refused):
    """The end of a session by an operator who does not want the client to come back by itself."""

    def __init__(self) -> None:
        super().__init__("disconnected", "an operator has ended this session; do not come back by yourself")


class GoingAway(Refused):
    """The end of a session because its access point goes. `point`: from where to recover elsewhere; None where that is not known."""

    def __init__(self, point: str | None = None) -> None:
        super().__init__("going-away")
        self.point = point


class Unavailable(SegueError):  # noqa: N818 - as above
    """A request that cannot be answered now. It may or may not have been done; repeating it is safe."""


class ConfigError(SegueError):
    """A configuration that is wrong. The message names the file or key and the nearest thing that would be right."""
