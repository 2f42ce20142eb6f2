"""The file that a command writes when it is done, as an option."""

import sys
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final

import click

from infra.runtime.whole_file import write_whole

_STDOUT: Final = "-"


class OutputFile(click.ParamType[Path]):
    """A path that can be written, which is checked before the work begins. `-` is standard output."""

    name = "filename"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Returns `value` as a path. Raises UsageError if it is a folder, and if nothing can be written there."""
        path = Path(value)
        try:
            if path.is_dir():
                self.fail(f"{value}: is a folder; name a file", param, ctx)
            if str(path) != _STDOUT and (path.is_file() or not path.exists()):
                with TemporaryFile(dir=path.resolve().parent):
                    pass
        except OSError as error:
            self.fail(f"{value}: cannot be written: {error.strerror}", param, ctx)
        return path


def write_output(path: Path, content: bytes) -> None:
    """Writes `content` to `path`, which an OutputFile has checked. Raises OSError."""
    if str(path) == _STDOUT:
        sys.stdout.buffer.write(content)
    else:
        write_whole(path, content)
