"""The command line of the server, and the folder that it starts from."""

import shutil
from pathlib import Path
from typing import Final

from .settings import ServerSettings

# Cassandra reaches into the JDK; Java 17 lets it only where it is told. From Cassandra's own jvm17-server.options.
_OPENED: Final = (
    *(f"java.base/{each}" for each in ("java.io", "java.lang", "java.lang.module", "java.lang.reflect", "java.nio", "java.util")),
    *(f"java.base/{each}" for each in ("java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch")),
    *(f"java.base/jdk.internal.{each}" for each in ("loader", "math", "module", "ref", "reflect", "util.jar")),
    "jdk.management/com.sun.management.internal",
)
_EXPORTED: Final = (
    *(f"java.base/{each}" for each in ("java.lang.ref", "jdk.internal.misc")),
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    *(f"java.rmi/sun.rmi.{each}" for each in ("registry", "server")),
    "java.sql/java.sql",
    "jdk.unsupported/sun.misc",
)


def command(settings: ServerSettings, folder: Path, java: str, jars: Path) -> list[str]:
    """Writes the configuration into `folder`, where the data and the logs will be, too. Returns the command line of the server.

    It runs `java` with the jars in the folder `jars`.
    """
    conf, scratch = folder / "conf", folder / "tmp"
    for each in (conf, scratch):
        each.mkdir(parents=True, exist_ok=True)
    (conf / "cassandra.yaml").write_text(settings.yaml(folder / "data"), encoding="utf-8")
    shutil.copyfile(Path(__file__).with_name("logback.xml"), conf / "logback.xml")
    return [
        java,
        f"-Xmx{settings.heap}",
        # Cassandra locks its first heap into memory where it may (root), so the first one is small.
        f"-Xms{max(64, settings.heap_mb // 4)}M",
        "-Xss256k",
        "-XX:+UseG1GC",
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:+PerfDisableSharedMem",
        "-XX:TieredStopAtLevel=1",  # starts in two thirds of the time, and a test's minutes are too short for the other compiler
        f"-XX:ErrorFile={folder}/crash.log",
        *(f"-javaagent:{jar}" for jar in jars.glob("jamm-*.jar")),
        "-Djdk.attach.allowAttachSelf=true",
        *(f"--add-opens={each}=ALL-UNNAMED" for each in _OPENED),
        *(f"--add-exports={each}=ALL-UNNAMED" for each in _EXPORTED),
        "-Djava.net.preferIPv4Stack=true",
        f"-Djava.io.tmpdir={scratch}",
        f"-Djna.tmpdir={scratch}",
        "-Dio.netty.tryReflectionSetAccessible=true",
        f"-Dlogback.configurationFile={(conf / 'logback.xml').as_uri()}",
        f"-Dcassandra.config={(conf / 'cassandra.yaml').as_uri()}",
        f"-Dcassandra.storagedir={folder}/data",
        f"-Dcassandra.logdir={folder}",
        "-Dcassandra-foreground=yes",
        # There is only one node, so there is nobody to wait for.
        "-Dcassandra.skip_wait_for_gossip_to_settle=0",
        "-Dcassandra.ring_delay_ms=1",
        "-Dcassandra.superuser_setup_delay_ms=1000",
        "-Dcassandra.shutdown_announce_in_ms=0",
        "-Dcassandra.memtable.row_overhead_size=180",  # what it would find out by itself, in a second of each start
        "-cp",
        f"{conf}:{jars}/*",
        "org.apache.cassandra.service.CassandraDaemon",
    ]
