"""`segue certs`: what it makes, what it says, and what it never does."""

import stat
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from infra.kernel.errors import ConfigError
from infra.runtime.certificates import certificate_facts, make_authority
from infra.runtime.link_auth import LinkAuth, LinkAuthOptions
from segue.cli.certs import certs


def run(folder: Path, command: str, *arguments: str) -> Result:
    return CliRunner().invoke(certs, [command, "--dir", str(folder), *arguments])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert run(tmp_path / "certs", "init").exit_code == 0
    return tmp_path / "certs"


def test_a_node_gets_what_its_links_need(folder: Path) -> None:
    """DPS-24: the files that it prints are those of [link_auth]."""
    made = run(folder, "node", "--role", "broker", "--site", "sto", "--node", "b1", "--host", "b1.example", "--host", "10.0.0.1")
    assert made.output.split() == [str(folder / "sto-b1.crt"), str(folder / "sto-b1.key")]
    certificate, key = map(Path, made.output.split())
    assert certificate_facts(certificate.read_bytes()).names == ("segue://sto/broker/b1", "b1.example", "10.0.0.1")
    LinkAuth(LinkAuthOptions(mode="tls", certificate=certificate, key=key, authority=folder / "authority.crt"))


def test_one_certificate_may_be_for_several_processes_of_a_host(folder: Path) -> None:
    run(folder, "node", "--role", "accesspoint", "--site", "sto", "--node", "ap1-1", "--node", "ap1-2")
    names = certificate_facts((folder / "sto-ap1-1.crt").read_bytes()).names
    assert names == ("segue://sto/accesspoint/ap1-1", "segue://sto/accesspoint/ap1-2")


def test_a_door_gets_its_host_names(folder: Path) -> None:
    made = run(folder, "door", "clients.example", "::1")
    assert certificate_facts((folder / "clients.example.crt").read_bytes()).names == ("clients.example", "::1")
    assert made.exit_code == 0


def test_files_are_for_their_owner_and_never_overwritten(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert {stat.S_IMODE(path.stat().st_mode) for path in before} == {0o600}
    again = run(folder, "init")
    assert isinstance(again.exception, ConfigError)
    assert "never overwritten" in str(again.exception)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_show_says_names_and_end(folder: Path) -> None:
    run(folder, "node", "--role", "broker", "--site", "sto", "--node", "b1", "--days", "30")
    shown = CliRunner().invoke(certs, ["show", str(folder / "sto-b1.crt"), str(folder / "authority.crt")]).output
    assert "names    segue://sto/broker/b1" in shown
    assert "30 days left" in shown
    assert "none; it is an authority" in shown


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("node", "--role", "broker", "--site", "sto", "--node", "b1"), "no authority in .*segue certs init --dir"),
        (("door", "a.example"), "no authority in"),
    ],
)
def test_without_an_authority_it_says_how_to_make_one(tmp_path: Path, arguments: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        raise run(tmp_path, *arguments).exception or AssertionError


def test_what_is_no_certificate_is_named(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("nothing")
    for path in ("x", "y"):
        error = CliRunner().invoke(certs, ["show", str(tmp_path / path)]).exception
        assert isinstance(error, ConfigError)
        assert path in str(error)


def test_what_a_certificate_says_commands_no_terminal(tmp_path: Path) -> None:
    """Whoever made it may have named it as they liked."""
    pair = make_authority("Segue\x1b]0;gone\x07\x1b[2J", time.time(), days=1)
    file = tmp_path / "odd\x1b[31m.crt"
    pair.write(file, tmp_path / "odd.key")
    shown = CliRunner().invoke(certs, ["show", str(file)])
    assert shown.exit_code == 0
    assert "Segue\\u001b]0\\;gone\\u0007\\u001b[2J" in shown.output
    assert [char for char in shown.output if not (char.isprintable() or char == "\n")] == []
