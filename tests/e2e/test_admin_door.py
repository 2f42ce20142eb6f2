"""The admin door of a process whose address others reach: it opens only where it can check a token (DPS-25)."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_role_that_could_check_no_token_does_not_open_its_admin_door_to_others(tmp_path: Path) -> None:
    """DPS-25: the error says what to write."""
    file = tmp_path / "presence.toml"
    file.write_text(
        '[tls]\nallow_plain = true\n[presence]\nsite = "sto"\nnode = "p1"\nbrokers = { b1 = "127.0.0.1:1" }\n'
        'listen = "127.0.0.1:0"\nadmin = "0.0.0.0:0"\n',
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "segue", "presence", "--config", str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert ended.returncode == 2
    assert "presence.admin is 0.0.0.0:0" in ended.stderr
    assert "set auth.secret_file" in ended.stderr
    assert "Traceback" not in ended.stderr
