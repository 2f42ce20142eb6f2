"""Where the libraries of the extra `analytics` are not installed, the commands that want them say so."""

import subprocess
import sys
from pathlib import Path

import pytest

from infra.runtime.tokens import ensure_secret
from tests.support.samples import DEPLOY

# The sample names secrets that are not on this machine.
SECRETS = ["--set=auth.secret_file='{secret}'", "--set=link_auth.mode='open'", "--set=link_auth.secret_files=[]"]
COMMANDS = (
    ["replay", "x"],
    ["overlay", "compare", "--out", "x"],
    ["overlay", "report", "--out", "x"],
    ["overlay", "simulate", "--out", "x"],
    ["analyze", "generate", "x"],
    ["analyze", "validate", "x"],
    ["analyze", "characterize", "x"],
    ["decision", *SECRETS, "--config", str(DEPLOY / "config" / "sto-decision1.toml")],
    ["offload-demo", "--users", "5"],
)


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0] if SECRETS[0] in arguments else " ".join(arguments[:-1]))
def test_a_command_that_lacks_its_libraries_says_how_to_get_them(arguments: list[str], tmp_path: Path) -> None:
    arguments = [each.format(secret=ensure_secret(tmp_path)) for each in arguments]
    missing = "for name in ('numpy', 'pyarrow', 'matplotlib', 'pyspark'): sys.modules[name] = None"
    code = f"import sys\n{missing}\nsys.argv = {['segue', *arguments]!r}\nfrom segue.__main__ import main\nmain()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
    assert done.returncode == 2
    assert "of the extra analytics. In the folder of Segue: make setup-analytics" in done.stderr
    assert "Traceback" not in done.stderr
