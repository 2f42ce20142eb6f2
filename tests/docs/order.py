"""The pages, in the order in which somebody reads them: README, what docs/README.md lists, and the rest."""

import os
import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]


def _indexed() -> list[str]:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    return [os.path.normpath(f"docs/{link}") for link in re.findall(r"\]\(([\w./-]+\.md)\)", index)]


PAGES: Final = tuple(dict.fromkeys(["README.md", "docs/README.md", *_indexed(), "examples/README.md", "CONTRIBUTING.md"]))
