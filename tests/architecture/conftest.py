"""What the checks of the house share: the trees of all files, which go when the last check is done."""

from pathlib import Path
from typing import Final

import pytest

from tests.architecture.sources import forget

HERE: Final = Path(__file__).parent


def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Lets go of the trees when the next test is of another folder."""
    if nextitem is None or HERE not in nextitem.path.parents:
        forget()
