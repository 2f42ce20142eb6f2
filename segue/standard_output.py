"""Standard output and standard error of a command, whose readers may go before it ends: `segue listen TOPIC | head -1`."""

import io
import os
import sys
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

OUTPUT: Final = 1
ERRORS: Final = 2


class _Output(io.FileIO):
    """Standard output: when nobody reads it any more the command is done, and its exit code is 0.

    What is buffered still after a failed write goes nowhere, for the interpreter would complain about it at the end.
    """

    def write(self, data: "ReadableBuffer") -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            _forget(self.fileno())
            raise SystemExit(0) from None
        except OSError:
            _forget(self.fileno())
            raise


class _Errors(io.FileIO):
    """Standard error: when nobody reads it any more, the command goes on without it."""

    def write(self, data: "ReadableBuffer") -> int:
        try:
            return super().write(data)
        except OSError:
            _forget(self.fileno())
            return memoryview(data).nbytes


def guard() -> None:
    """Puts both in the place of `sys.stdout` and `sys.stderr`; one that is closed from the start stays so."""
    if sys.stdout is not None:
        sys.stdout = _text(_Output(OUTPUT, "w", closefd=False), sys.stdout)
    if sys.stderr is not None:
        sys.stderr = _text(_Errors(ERRORS, "w", closefd=False), sys.stderr)


def _text(raw: io.FileIO, like: TextIO) -> io.TextIOWrapper:
    assert isinstance(like, io.TextIOWrapper)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), like.encoding, like.errors, line_buffering=like.line_buffering, write_through=like.write_through
    )


def _forget(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
