"""Standard output and standard error of a command, whose readers may go before it ends: `segue listen TOPIC | head -1`."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

OUTPUT: Final = 1
ERRORS: Final = 2


class _Buffer(io.BufferedWriter):
    """A buffer between a text stream and a descriptor. `through`: it holds nothing back, as `PYTHONUNBUFFERED` asks for."""

    def __init__(self, descriptor: int, *, through: bool) -> None:
        super().__init__(io.FileIO(descriptor, "w", closefd=False))
        self._through = through

    def write(self, data: "ReadableBuffer") -> int:
        written = super().write(data)
        if self._through:
            self.flush()
        return written


class _Output(_Buffer):
    """Standard output. When nobody reads it any more the command is done, and its exit code is 0."""

    def write(self, data: "ReadableBuffer") -> int:
        with _heard():
            return super().write(data)

    def flush(self) -> None:
        with _heard():
            super().flush()


class _Errors(_Buffer):
    """Standard error. When nobody reads it any more, the command goes on without it."""

    def write(self, data: "ReadableBuffer") -> int:
        with _unheard():
            return super().write(data)
        return memoryview(data).nbytes

    def flush(self) -> None:
        with _unheard():
            super().flush()


@contextmanager
def _heard() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        _forget(OUTPUT)
        raise SystemExit(0) from None
    except OSError:
        _forget(OUTPUT)
        raise


@contextmanager
def _unheard() -> Iterator[None]:
    try:
        yield
    except OSError:
        _forget(ERRORS)


@contextmanager
def guarded() -> Iterator[None]:
    """Puts buffers of ours under `sys.stdout` and `sys.stderr`, unless somebody has put something else there, or they are closed.

    At the end of the block everything is written. Raises SystemExit as soon as nobody reads the output, and OSError.
    """
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout is sys.__stdout__:
        sys.stdout = _text(_Output(OUTPUT, through=sys.stdout.write_through), sys.stdout)
    if isinstance(sys.stderr, io.TextIOWrapper) and sys.stderr is sys.__stderr__:
        sys.stderr = _text(_Errors(ERRORS, through=sys.stderr.write_through), sys.stderr)
    try:
        yield
    except BaseException:
        with suppress(SystemExit, OSError):  # what happened first is told
            _flush()
        raise
    _flush()


def _flush() -> None:
    if sys.stdout is not None:
        sys.stdout.flush()


def _text(buffer: io.BufferedWriter, like: io.TextIOWrapper) -> io.TextIOWrapper:
    return io.TextIOWrapper(buffer, like.encoding, like.errors, line_buffering=like.line_buffering, write_through=like.write_through)


def _forget(descriptor: int) -> None:
    """Sends what is still buffered, and all that comes, nowhere: the interpreter would complain about it at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
