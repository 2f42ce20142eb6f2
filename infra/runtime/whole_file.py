"""Files that are written whole or not at all."""

import errno
import os
import tempfile
from pathlib import Path

from .private_folder import make_private


def write_whole(path: Path, content: bytes) -> None:
    """Writes `content` beside `path` under another name, and renames it. A reader of `path` finds all of it, or what was there before.

    Where `path` is no file, but a pipe for example, `content` is written to it as it is. Raises OSError.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(content)
        return
    target = path.resolve()
    growing = target.with_name(f".{target.name}.partial-{os.getpid()}")
    try:
        growing.write_bytes(content)
        growing.replace(target)
    except BaseException:
        growing.unlink(missing_ok=True)
        raise


def append_whole(descriptor: int, content: bytes) -> None:
    """Adds `content` to the end of an open file, with one write. Raises OSError: then nothing is added, also where part of it had room.

    Nobody else may write to the file meanwhile.
    """
    size_bytes = os.fstat(descriptor).st_size
    if os.write(descriptor, content) < len(content):
        os.ftruncate(descriptor, size_bytes)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def write_new(path: Path, content: bytes) -> None:
    """Writes `content` to the new file `path`, with mode 0600, and makes its folder. Raises OSError, also where `path` exists.

    The first of several processes wins.
    """
    make_private(path.parent)
    # A hard link appears at once, and never replaces a file that is there.
    with tempfile.NamedTemporaryFile(dir=path.parent) as file:  # made with mode 0600
        file.write(content)
        file.flush()
        os.link(file.name, path)
