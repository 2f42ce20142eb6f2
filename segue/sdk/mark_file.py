"""The file that keeps the place of a device after its process has ended: two numbers."""

import contextlib
from pathlib import Path
from typing import Final, NamedTuple

from infra.runtime.whole_file import write_whole
from segue.sdk.errors import Misuse

_LONGEST: Final = 40


class Place(NamedTuple):
    """The seen mark of a device, and the epoch to which it belongs (None where the server told none)."""

    mark: int
    epoch: int | None


class MarkFile:
    """The file at `path` with the place of one user on one device. Its folder must exist.

    It is written for every notification that is taken, as a whole: a crash leaves the old place or the new one. It is not forced to the
    disk, so after a power failure the last few notifications may be shown again.
    """

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)

    def load(self) -> Place | None:
        """Returns the place; None if there is no file yet. Raises OSError, and Misuse if the file holds anything else."""
        try:
            text = self._path.read_bytes()[:_LONGEST]
        except FileNotFoundError:
            return None
        with contextlib.suppress(ValueError):
            mark, *epoch = map(int, text.split())
            if mark >= 0 and len(epoch) <= 1:
                return Place(mark, epoch[0] if epoch else None)
        raise Misuse(f"{self._path} holds no mark; give another path, or delete it to go on where the server says")

    def save(self, place: Place) -> None:
        """Replaces the place by `place`. Raises OSError."""
        numbers = [place.mark] if place.epoch is None else place
        write_whole(self._path, b"%b\n" % " ".join(map(str, numbers)).encode())
