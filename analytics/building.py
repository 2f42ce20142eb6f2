"""Folders that appear whole or not at all.

What a job writes grows beside its place, under the name `.<name>.partial-<pid>`. The folder gets its own name when all of it is there.
"""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import TraceError


@contextmanager
def building(target: Path, *, replace: bool = False) -> Iterator[Path]:
    """Makes an empty folder to write in. It becomes `target` when the block ends well, and is removed with all that is in it otherwise.

    What a killed process left of the same folder is removed as well. `replace`: an existing `target` is removed first. Raises TraceError
    if `target` exists already and is not to be replaced, if it cannot be made, or if the disk is full.
    """
    if target.exists() and not replace:
        raise TraceError(f"{target}: exists already; name another folder, or remove it first")
    # Beside the target, so that both are on one disk: a rename there is one step, and never leaves half a folder.
    growing = target.parent / f".{target.name}.partial-{os.getpid()}"
    _remove_ruins(target)
    try:
        growing.mkdir(parents=True)
        yield growing
        if replace and target.exists():
            shutil.rmtree(target)
        growing.rename(target)
    except OSError as error:
        raise _explained(target, error) from error
    finally:
        shutil.rmtree(growing, ignore_errors=True)


def _remove_ruins(target: Path) -> None:
    """Removes what killed processes left of the same folder."""
    for ruin in target.parent.glob(f".{target.name}.partial-*"):
        pid = ruin.name.rpartition("-")[2]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(ruin, ignore_errors=True)


def _explained(target: Path, error: OSError) -> TraceError:
    """Returns the error as a reader needs it: which folder, why, and what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        free = shutil.disk_usage(target.parent).free / 1e9
        return TraceError(
            f"{target}: the disk is full ({free:.1f} GB left); make room, choose another disk or a smaller scale. Nothing was kept"
        )
    return TraceError(f"{target}: cannot be written: {error.strerror or error}")
