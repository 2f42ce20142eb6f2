"""A real Spark cluster on loopback: a standalone master and some workers, each a process of its own."""

import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Final

import pyspark

from analytics.session import java_home

START_S: Final = 40.0
_MASTER: Final = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED: Final = re.compile(r"Successfully registered with master")
_LOG: Final = """\
status = error
rootLogger.level = info
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %m%n
"""


@contextmanager
def spark_cluster(folder: Path, workers: int) -> Iterator[str]:
    """Yields the URL of the master, once all workers have registered. They keep their files in `folder`, and end with the block."""
    (folder / "log4j2.properties").write_text(_LOG, encoding="utf-8")
    with ExitStack() as stack:
        url = stack.enter_context(_process(folder, "master.Master", [], _MASTER))[1]
        for number in range(workers):
            place = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"worker-{number}"), url]
            stack.enter_context(_process(folder, "worker.Worker", place, _REGISTERED))
        yield url


@contextmanager
def _process(folder: Path, name: str, arguments: list[str], ready: re.Pattern[str]) -> Iterator[re.Match[str]]:
    jars = Path(pyspark.__file__).parent / "jars" / "*"
    opens = ["java.lang", "java.lang.invoke", "java.io", "java.net", "java.nio", "java.util", "java.util.concurrent", "sun.nio.ch"]
    command = [str(java_home() / "bin" / "java"), "-Xmx256m", "-cp", f"{folder}:{jars}"]
    command += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in opens]
    command += [f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0", *arguments]
    environment = os.environ | {
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_SCALA_VERSION": "2.12",
        "JAVA_HOME": str(java_home()),
    }
    environment |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_DIRS": str(folder)}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        yield _wait_for(process.stderr, ready)
    finally:
        process.terminate()
        process.wait(10)


def _wait_for(stream: IO[str], ready: re.Pattern[str]) -> re.Match[str]:
    """Returns what matches, as soon as it is said. The stream is read to its end, so that nobody waits for a full pipe."""
    found: queue.SimpleQueue[re.Match[str] | str] = queue.SimpleQueue()

    def read() -> None:
        said: list[str] = []
        with stream:
            for line in stream:
                said = [*said[-20:], line]
                if match := ready.search(line):
                    found.put(match)
        found.put("".join(said))

    threading.Thread(target=read, daemon=True).start()
    match = found.get(timeout=START_S)
    assert not isinstance(match, str), f"it ended before it was ready:\n{match}"
    return match
