"""An address that cannot be had: one line that names what, where and what to do, from the real command."""

import socket
import subprocess
import sys
from pathlib import Path

from infra.runtime.tokens import ensure_secret
from segue.cli.state import held
from tests.support.samples import DEPLOY

ROOT = Path(__file__).resolve().parents[2]


def segue(*arguments: str) -> tuple[int, list[str]]:
    """Returns exit code and lines on standard error of a command that cannot start."""
    command = [sys.executable, "-m", "segue", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60)
    return ended.returncode, ended.stderr.splitlines()


def test_a_name_that_nobody_knows_is_named_once_with_its_option(tmp_path: Path) -> None:
    """Also where it has begun to look up its peers, whose names nobody knows either."""
    sample = str(DEPLOY / "config" / "sto-decision1.toml")
    peers = [f"--set=decision.sites.{site}.{slot}='{slot}.{site}.invalid:7811'" for site in ("sto", "lon", "ash") for slot in ("b1", "b2")]
    code, (line,) = segue(
        "decision",
        "--config",
        sample,
        "--set=decision.listen='decision1.invalid:7826'",
        f"--set=auth.secret_file='{ensure_secret(tmp_path)}'",
        "--set=link_auth.mode='open'",
        "--set=link_auth.secret_files=[]",
        *peers,
    )
    assert code == 2
    assert line.startswith("segue: decision.listen: cannot listen on decision1.invalid:7826 (")
    assert "choose another address" in line


def test_a_second_site_on_the_same_state_is_told_to_take_its_own(tmp_path: Path) -> None:
    with held(tmp_path):
        code, (line,) = segue("up", "--state", str(tmp_path), "--port-base", "0")
    assert (code, "another segue up uses the state" in line, "--state DIR" in line) == (2, True, True)


def test_an_address_that_is_taken_is_named_with_the_option_that_moves_it(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, (line,) = segue("up", "--roles", "broker", "--state", str(tmp_path), "--port-base", str(port - 10))
    assert (code, line.startswith(f"segue: cannot listen on 127.0.0.1:{port} (Address already in use)")) == (2, True)
    assert "--port-base N" in line
