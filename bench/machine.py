"""The machine on which a measurement was made: a number says nothing without it."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from .meter import total_memory_bytes
from .setting import BenchSetting
from .table import MarkdownTable

_LIBRARIES: Final = ("uvloop", "msgspec", "httptools", "PyJWT", "aiohttp")


def describe(setting: BenchSetting) -> dict[str, str]:
    """Returns what stands beside every table."""
    cores = sorted(os.sched_getaffinity(0))
    return {
        "processor": f"{_processor()}, {len(cores)} cores of it",
        "memory": f"{total_memory_bytes() / 2**30:.0f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "libraries": ", ".join(f"{name} {_version(name)}" for name in _LIBRARIES),
        "server on core": str(setting.server_core),
        "generator on core": str(setting.generator_core),
        "load average before": " ".join(f"{load:.2f}" for load in os.getloadavg()),
    }


def table(setting: BenchSetting) -> MarkdownTable:
    """Returns the same as a table."""
    notes = ["Server and generator share the one core there is: rates say little, CPU seconds still do."]
    return MarkdownTable(
        "The machine", ["what", "which"], list(describe(setting).items()), notes if setting.server_core == setting.generator_core else ()
    )


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
