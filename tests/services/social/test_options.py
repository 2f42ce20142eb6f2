"""Options of the social service."""

import re
from pathlib import Path

import pytest

from infra.kernel.errors import ConfigError
from infra.runtime.config import load
from services.social.options import SocialOptions

PAGE = Path(__file__).resolve().parents[3] / "docs" / "friends.md"


def read(folder: Path, text: str) -> SocialOptions:
    """Returns the options that a file with `text` has."""
    (folder / "social.toml").write_text(text, encoding="utf-8")
    return load(folder / "social.toml", SocialOptions)


def shown() -> str:
    """Returns the sample on the page, without the name of its table."""
    (sample,) = re.findall(r"^```toml\n\[social\]\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return str(sample)


def test_the_sample_on_the_page_is_right(tmp_path: Path) -> None:
    assert read(tmp_path, shown()).site == "sto"


@pytest.mark.parametrize(("line", "reason"), [("notification = []", "name an intake"), ("max_contacts = 0", "1 to 20000")])
def test_what_cannot_work_is_refused_at_the_start(tmp_path: Path, line: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        read(tmp_path, f'site = "sto"\nnode = "f1"\n{line}\n')
