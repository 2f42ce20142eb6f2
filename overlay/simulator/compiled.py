"""Kernels: plain functions that run compiled over arrays, or interpreted over lists.

Only this file, `records.py` and `buffers.py` know Numba: these two say how named tuples and arrays come into kernels.

A kernel may call functions of its own package, and of this one, by name. Nothing has to stand at them: whatever a kernel reaches is found
in its bytecode.

Numba keeps compiled kernels on disk, and takes a kernel for fresh while the file that it stands in is the same. A changed function in
another file would never be seen. So every kernel has a folder of its own, which is named by a digest of all that it reaches.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, NamedTuple

import numba
import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from ..protocol.buffer import Buffer
from . import buffers, records
from .places import own_places
from .records import KernelDispatcher, type_of

# Of each kernel so many older versions stay on disk: enough to go to another branch and back.
KEPT: Final = 3
# Numba's own settings, which the environment fills.
_SETTINGS: Final[Any] = numba.config
# Kernels allocate nothing, so nothing counts references to arrays (`_nrt`): that took a third of a cycle's time. No C code calls them
# (`no_cfunc_wrapper`), which spares an eighth of the time to compile them.
_OPTIONS: Final[dict[str, Any]] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
_CONSTANTS: Final = (bool, int, float, str, tuple)


class Execution(NamedTuple):
    """A way to run kernels: COMPILED, CHECKED or INTERPRETED. Buffers for a kernel are made by the same one."""

    compiled: bool
    checked: bool = False

    def kernel(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns what runs `function`."""
        if self.checked:
            return checked(function)
        return compiled(function) if self.compiled else function

    def buffer(self, values: Iterable[int] | NDArray[Any], kind: type[np.integer[Any]] = np.int64) -> Buffer:
        """Returns a buffer with these numbers. Compiled, each takes the bytes of `kind`."""
        made: NDArray[Any] = np.ascontiguousarray(values if isinstance(values, np.ndarray) else list(values), dtype=kind)
        return self._own(made.copy())

    def filled(self, length: int, value: int = 0, kind: type[np.integer[Any]] = np.int64) -> Buffer:
        """Returns a buffer of one number, over and over."""
        return self._own(np.full(length, value, kind))

    def _own(self, made: NDArray[Any]) -> Buffer:
        return made if self.compiled else made.tolist()


def numbers(buffer: Buffer) -> list[int]:
    """Returns what a buffer of either execution holds."""
    return [int(buffer[at]) for at in range(len(buffer))]


COMPILED: Final = Execution(compiled=True)
INTERPRETED: Final = Execution(compiled=False)
# Compiled, and a place outside of a buffer raises IndexError. A list would take a place below 0 from its end. For tests: it is slower.
CHECKED: Final = Execution(compiled=True, checked=True)


@cache
def compiled(function: Callable[..., Any], places: tuple[Path, ...] | None = None) -> Any:
    """Returns the kernel of `function`. It is compiled for each sort of arguments at the first call, unless it lies in one of `places`."""
    if not isinstance(function, FunctionType):
        raise TypeError(f"{function!r} is no plain function: only those can be kernels")
    for each in reached(function):
        if each is not function:
            _compilable(each)
    folder = kernel_folder(function, places)
    if folder is None:
        return _kernel(function)
    # Numba reads the place when a kernel is made, and only then.
    before, _SETTINGS.CACHE_DIR = _SETTINGS.CACHE_DIR, str(folder)
    try:
        kernel = _kernel(function)
        kernel.enable_caching()
        return kernel
    finally:
        _SETTINGS.CACHE_DIR = before


@cache
def checked(function: Callable[..., Any], places: tuple[Path, ...] | None = None) -> Callable[..., Any]:
    """Returns the kernel of `function` (see `compiled`) that raises IndexError where a place is outside of its buffer."""
    kernel = compiled(function, places)

    def run(*args: Any) -> Any:
        # Numba remembers what type an argument had by what it looks like, and checked buffers look like others: so it is told.
        return kernel.compile(tuple(type_of(each, checked=True) for each in args))(*args)

    return run


def _kernel(function: FunctionType) -> KernelDispatcher:
    return KernelDispatcher(py_func=function, targetoptions={"nopython": True, **_OPTIONS})


@cache
def _compilable(function: FunctionType) -> None:
    """Lets kernels call `function`, once in a process."""
    register_jitable(**_OPTIONS)(function)


def reached(function: FunctionType) -> list[FunctionType]:
    """Returns `function` and all functions of its package and of this one that it calls, directly or not, by module and name."""
    homes = _homes(function)
    found, waiting = {function}, [function]
    while waiting:
        for value in _mentioned(waiting.pop(), homes).values():
            if isinstance(value, FunctionType) and value not in found and _top(value.__module__) in homes:
                found.add(value)
                waiting.append(value)
    return sorted(found, key=_name)


def digest(function: FunctionType) -> str:
    """Returns what changes whenever the compiled kernel could: code, constants and named tuples that it reaches, and how it is compiled."""
    homes = _homes(function)
    told = sha256(repr((numba.__version__, np.__version__, sys.version, _OPTIONS)).encode())
    for way in (records, buffers):
        told.update(Path(str(way.__file__)).read_bytes())
    for each in reached(function):
        told.update(repr((_name(each), _shape(each.__code__), each.__defaults__)).encode())
        values = [*_mentioned(each, homes).items(), *each.__annotations__.items()]
        told.update(repr([(name, _told(value)) for name, value in sorted(values, key=lambda item: item[0])]).encode())
    return told.hexdigest()


def kernel_folder(function: FunctionType, places: Iterable[Path] | None = None) -> Path | None:
    """Returns the folder that is for this kernel as it is now, and removes those of versions long gone.

    It lies in the first of `places` that can be written, or else of the usual ones. Returns None if there is none.
    """
    name = f"{function.__module__}.{function.__qualname__}"
    for place in places if places is not None else usual_places():
        folder = place / f"{name}-{digest(function)[:24]}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
            _forget_old(place, name, folder)
        except OSError:
            continue
        return folder
    return None


def usual_places() -> Iterable[Path]:
    """Yields where kernels may lie: where the user told Numba to, in the checkout's `build`, or in the user's own cache."""
    if _SETTINGS.CACHE_DIR:
        yield Path(_SETTINGS.CACHE_DIR)
    yield from own_places("kernels")


def _forget_old(place: Path, name: str, present: Path) -> None:
    versions = [each for each in place.glob(f"{name}-*") if each != present and each.name.rpartition("-")[0] == name]
    for old in sorted(versions, key=lambda each: each.stat().st_mtime, reverse=True)[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)


def _mentioned(function: FunctionType, homes: set[str]) -> dict[str, Any]:
    """Returns the globals that the code of `function` names, and what it may take from modules of `homes`."""
    names = _names(function.__code__)
    found = {name: function.__globals__[name] for name in names if name in function.__globals__}
    modules = [(name, value) for name, value in found.items() if isinstance(value, ModuleType) and _top(value.__name__) in homes]
    inner = {f"{name}.{part}": getattr(module, part) for name, module in modules for part in names if hasattr(module, part)}
    return found | inner


def _names(code: CodeType) -> set[str]:
    """Returns the names in `code`, and in what is defined inside it."""
    found = set(code.co_names)
    return found.union(*(_names(each) for each in code.co_consts if isinstance(each, CodeType)))


def _shape(code: CodeType) -> tuple[Any, ...]:
    """Returns what `code` does, without where it stands."""
    constants = [_shape(each) if isinstance(each, CodeType) else repr(each) for each in code.co_consts]
    return code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_argcount


def _told(value: Any) -> str:
    """Returns what a digest tells of a global. Functions and modules tell of themselves elsewhere."""
    if isinstance(value, _CONSTANTS):
        return repr(value)
    return repr(getattr(value, "_fields", ""))


def _name(function: FunctionType) -> tuple[str, str]:
    return function.__module__, function.__qualname__


def _homes(function: FunctionType) -> set[str]:
    """Returns the packages whose functions a kernel may call."""
    return {_top(function.__module__), _top(__name__)}


def _top(module: str) -> str:
    return module.partition(".")[0]
