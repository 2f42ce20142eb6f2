"""The trace that the demo captures of itself."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from infra.kernel.capture_options import CaptureOptions
from infra.kernel.errors import ConfigError
from infra.kernel.manifest import MANIFESTS, decode, merge
from infra.kernel.trace import TABLES

KEY: Final = "capture.key"


@contextmanager
def whole(folder: Path | None) -> Iterator[None]:
    """Removes the trace in `folder` unless the block comes to its end: half a run is no workload. Raises as `need_new`."""
    if folder is None:
        yield
        return
    need_new(folder)
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def need_new(folder: Path) -> None:
    """Raises ConfigError when there is something in `folder`: each run has a key, and so numbers, of its own."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise ConfigError(f"--capture {folder}: exists already; name another folder, or remove it first")


def wanted(folder: Path | None, private: Path) -> CaptureOptions:
    """Returns what every role captures: a trace in `folder`, if there is one. The key lies in the folder `private`, and goes with it."""
    return CaptureOptions() if folder is None else CaptureOptions(path=str(folder.resolve()), key_file=str(private / KEY))


def told(folder: Path) -> str:
    """Returns one line: where the trace is, what is in it, and how to go on. All writers must have closed it."""
    trace = merge([decode(each.read_bytes(), str(each)) for each in sorted(folder.glob(MANIFESTS))])
    rows = ", ".join(f"{info.rows:,} {table}" for table in TABLES if (info := trace.tables.get(table)))
    lost = f" ({sum(trace.dropped.values()):,} rows were dropped)" if trace.dropped else ""
    return f"The trace is in {folder}: {rows}{lost}. Go on with: segue analyze characterize {folder}"
