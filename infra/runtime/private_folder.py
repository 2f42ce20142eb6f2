"""Folders that only their owner may look into: what is stored tells who hears what."""

from pathlib import Path
from typing import Final

from .logs import Logger

# What a mode lets everybody do who is neither the owner nor in their group.
OTHERS: Final = 0o007


def make_private(folder: Path) -> None:
    """Makes `folder` with mode 700, unless there is one. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def warn_of_others(folder: Path, log: Logger) -> None:
    """Warns when everybody on the machine may look into `folder`. It is not closed: who gave it away may have meant to."""
    mode = folder.stat().st_mode & 0o777
    if mode & OTHERS:
        what = "every user of this machine may look into the folder of our state"
        log.warning(what, folder=str(folder), mode=f"{mode:o}", todo=f"chmod 700 {folder}")
