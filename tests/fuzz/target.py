"""A target: a reader of what strangers send, as a fuzzer knows it."""

import re
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final, Protocol, Self

_VARIABLE: Final = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`|\d+""")


class FuzzTarget(Protocol):
    """A reader that is given inputs. It is a context manager, because some are whole sites."""

    @property
    def seeds(self) -> Sequence[bytes]:
        """Inputs that are read to their end."""

    @property
    def words(self) -> Sequence[bytes]:
        """Pieces of inputs that mean something."""

    def __enter__(self) -> Self:
        """Makes it ready."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Ends it."""

    def play(self, data: bytes) -> str:
        """Reads `data`, and returns what came of it, in a few words. Whatever it raises is a defect."""


class Ready:
    """A target that needs nothing to be ready."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


def outcome(*parts: Any) -> str:
    """Returns `parts` as words that are the same for inputs that go the same way: without numbers and without what is quoted."""
    return _VARIABLE.sub("_", " ".join(map(str, parts)))[:200]
