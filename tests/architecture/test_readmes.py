"""Every folder with code at the top has a README of one screen: what it is for, where to begin, what may import it, what to run."""

from typing import Final

import pytest

from tests.architecture.sources import ROOT

SCREEN_LINES: Final = 60
# These are pages of their own, and longer.
LONG: Final = {"bench": "how every figure was measured", "examples": "a program on the SDK, explained"}


def folders() -> list[str]:
    """Returns the folders at the top that hold code or examples, or that are kept for code."""
    return sorted({path.parent.name for pattern in ("*/*.py", "*/README.md") for path in ROOT.glob(pattern)} - {"build", "docs"})


@pytest.mark.parametrize("folder", folders())
def test_a_folder_has_a_readme_of_one_screen(folder: str) -> None:
    page = ROOT / folder / "README.md"
    assert page.exists()
    assert folder in LONG or len(page.read_text(encoding="utf-8").splitlines()) <= SCREEN_LINES


def test_no_exception_is_stale() -> None:
    pages = {folder: ROOT / folder / "README.md" for folder in LONG}
    right = {
        folder for folder, page in pages.items() if page.exists() and len(page.read_text(encoding="utf-8").splitlines()) <= SCREEN_LINES
    }
    assert sorted(right) == []
