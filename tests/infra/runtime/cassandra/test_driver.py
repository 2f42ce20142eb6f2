"""The driver over TLS: what it believes, and what it shows. A real socket stands for a node."""

import socket
import ssl
import threading
from pathlib import Path
from typing import Any

import pytest

from infra.kernel.errors import ConfigError
from infra.runtime.cassandra.client import Cassandra, Unavailable
from infra.runtime.cassandra.driver import Login
from infra.runtime.cassandra.options import CassandraOptions
from infra.runtime.tls.contexts import ServerTls
from tests.support.tls_files import TestAuthority

OPTIONS = 0x05  # the opcode of the first frame that a driver sends (native protocol, 4.1.2)


class Node:
    """A socket that shakes hands with who connects, reads the beginning of a frame, and closes. `met` is what it has seen."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._context = context
        self.port: int = self._listening.getsockname()[1]
        self.met: list[tuple[Any, int]] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> "Node":
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def _serve(self) -> None:
        while True:
            try:
                sock, _ = self._listening.accept()
            except OSError:
                return
            with sock:
                try:
                    with self._context.wrap_socket(sock, server_side=True) as secure:
                        frame = secure.recv(9)
                        self.met.append((secure.getpeercert(), frame[4] if len(frame) > 4 else -1))
                except OSError:
                    self.met.append((None, -1))


async def connect(node: Node, **options: Any) -> str:
    """Returns why a node that says nothing cannot be used."""
    with pytest.raises(Unavailable) as away:
        await Cassandra.open(CassandraOptions(port=node.port, timeout_s=1.0, tls=True, **options))
    return str(away.value)


async def test_it_speaks_tls_to_a_node_that_it_believes_and_shows_its_own_certificate(tmp_path: Path) -> None:
    """DPS-23."""
    authority = TestAuthority(tmp_path)
    context = ServerTls(authority.options()).context
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authority.ca_file)
    ours = authority.options(authority.issue(["segue.example"]))
    with Node(context) as node:
        await connect(node, ca_file=authority.ca_file, certificate=ours.certificate, key=ours.key)
    shown, opcode = node.met[0]
    assert (dict(shown["subjectAltName"]), opcode) == ({"DNS": "segue.example"}, OPTIONS)


@pytest.mark.parametrize("wrong", ["foreign", "name"])
async def test_it_says_nothing_to_a_node_that_it_does_not_believe(wrong: str, tmp_path: Path) -> None:
    """DPS-23."""
    authority = TestAuthority(tmp_path)
    pair = TestAuthority(tmp_path, "Somebody else").issue() if wrong == "foreign" else authority.issue(["10.9.8.7"])
    with Node(ServerTls(authority.options(pair)).context) as node:
        assert "certificate verify failed" in await connect(node, ca_file=authority.ca_file)
    assert {opcode for _, opcode in node.met} == {-1}


@pytest.mark.parametrize(
    ("fields", "why"),
    [({"certificate": Path("a.pem"), "tls": True}, "both or not at all"), ({"ca_file": Path("a.pem")}, "write tls = true, too")],
)
def test_options_that_do_not_fit_together_are_refused(fields: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        CassandraOptions(**fields).check()


async def test_a_file_that_cannot_be_used_is_an_error_of_the_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        await Cassandra.open(CassandraOptions(port=1, tls=True, ca_file=tmp_path / "nothing.pem"))


def test_each_connection_logs_in_with_the_password_that_the_file_has_then(tmp_path: Path) -> None:
    """DPS-26: a password is changed without a restart. One that cannot be read leaves the last one."""
    file = tmp_path / "password"
    file.touch(mode=0o600)
    file.write_text("an old one\n")
    login = Login(CassandraOptions(username="segue", password_file=file))
    assert login.new_authenticator("a host").password == "an old one"
    file.write_text("a new one\n")
    assert login.new_authenticator("a host").password == "a new one"
    file.write_bytes(b"\xff\n")
    assert login.new_authenticator("a host").password == "a new one"
    file.unlink()
    assert login.new_authenticator("a host").password == "a new one"
