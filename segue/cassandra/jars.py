"""The jars of the server, fetched by Maven once per machine.

Maven knows where they are: it has the operator's settings, perhaps a mirror.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Final

from infra.kernel.errors import ConfigError

_POM: Final = Path(__file__).with_name("pom.xml")
_GOAL: Final = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
_FETCH_TIMEOUT_S: Final = 600.0


def default_cache(environment: Mapping[str, str]) -> Path:
    """Returns the folder for fetched files: `$XDG_CACHE_HOME/segue`, or `~/.cache/segue`."""
    return Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "segue"


def fetch_jars(cache: Path, environment: Mapping[str, str]) -> Path:
    """Returns the folder in `cache` with the jars. The first call fetches them (70 MB); other processes that call meanwhile wait for it.

    Raises ConfigError if there is no Maven, or Maven fails.
    """
    folder = cache / f"cassandra-{blake2b(_POM.read_bytes(), digest_size=6).hexdigest()}"
    with locked(cache / "cassandra.lock"):
        if not folder.is_dir():
            _fetch(folder, environment)
    return folder


def _fetch(folder: Path, environment: Mapping[str, str]) -> None:
    maven = shutil.which("mvn", path=environment.get("PATH"))
    if maven is None:
        raise ConfigError("Maven is needed once, to fetch Cassandra's jars, and there is no mvn on the PATH (Debian: apt install maven)")
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        jars = Path(work) / "jars"
        command = [maven, "-B", "-q", "-f", str(_POM), _GOAL, "-DincludeScope=runtime", f"-DoutputDirectory={jars}"]
        try:
            done = subprocess.run(command, cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_FETCH_TIMEOUT_S)  # noqa: S603
        except subprocess.TimeoutExpired:
            raise ConfigError(f"Maven did not fetch Cassandra's jars within {_FETCH_TIMEOUT_S:g} s; is the network there?") from None
        if done.returncode or not any(jars.glob("cassandra-all-*.jar")):
            raise ConfigError("Maven could not fetch Cassandra's jars:\n" + "\n".join((done.stdout + done.stderr).splitlines()[-20:]))
        os.rename(jars, folder)  # whole or not at all


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Holds `file` alone among all processes of this machine while the block runs."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
