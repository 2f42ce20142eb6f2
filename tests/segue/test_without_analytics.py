"""Where the libraries of the extra `analytics` are not installed, the commands that want them say so."""

import subprocess
import sys

import pytest

from tests.support.samples import DEPLOY

COMMANDS = (
    ["replay", "x"],
    ["analyze", "generate", "x"],
    ["analyze", "validate", "x"],
    ["analyze", "characterize", "x"],
    ["decision", "--config", str(DEPLOY / "config" / "sto-decision1.toml")],
    ["offload-demo", "--users", "5"],
)


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: " ".join(arguments[:-1]))
def test_a_command_that_lacks_its_libraries_says_how_to_get_them(arguments: list[str]) -> None:
    missing = "for name in ('numpy', 'pyarrow', 'matplotlib', 'pyspark'): sys.modules[name] = None"
    code = f"import sys\n{missing}\nsys.argv = {['segue', *arguments]!r}\nfrom segue.__main__ import main\nmain()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
    assert done.returncode == 2
    assert "of the extra analytics. In the folder of Segue: make setup-analytics" in done.stderr
    assert "Traceback" not in done.stderr
