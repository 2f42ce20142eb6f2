"""What tests of commands have in common."""

from pathlib import Path

import pytest

from tests.support.cluster import SECRET


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Returns a state directory with the secret of the cluster."""
    file = tmp_path / "secret.key"
    file.touch(mode=0o600)
    file.write_bytes(SECRET)
    return tmp_path
