"""The seen mark of a device that outlives its process: one number in a file."""

import contextlib
from pathlib import Path
from typing import Final

from segue.errors import Misuse
from segue.whole_file import write_whole

_LONGEST: Final = 20


class MarkFile:
    """Keeps the mark of one user on one device at `path`, whose folder must exist. A crash leaves the old or the new mark.

    It is written for every notification that is taken, and not forced to the disk: after a power failure the last few
    notifications may be shown again.
    """

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)

    def load(self) -> int | None:
        """The mark; None if there is no file yet. Raises Misuse if the file holds anything else, and OSError."""
        try:
            text = self._path.read_bytes()[:_LONGEST]
        except FileNotFoundError:
            return None
        with contextlib.suppress(ValueError):
            if (mark := int(text)) >= 0:
                return mark
        raise Misuse(f"{self._path} holds no mark; give another path, or delete it to go on where the server says")

    def save(self, mark: int) -> None:
        """Replaces the mark at once. Raises OSError."""
        write_whole(self._path, b"%d\n" % mark)
