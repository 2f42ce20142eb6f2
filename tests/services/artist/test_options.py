"""Options of the artist service."""

import re
from pathlib import Path

import pytest

from infra.kernel.errors import ConfigError
from infra.runtime.config import load
from services.artist.options import ArtistOptions

PAGE = Path(__file__).resolve().parents[3] / "docs" / "artists.md"


def read(folder: Path, text: str) -> ArtistOptions:
    """Returns the options that a file with `text` has."""
    (folder / "artist.toml").write_text(text, encoding="utf-8")
    return load(folder / "artist.toml", ArtistOptions)


def shown() -> str:
    """Returns the sample on the page, without the name of its table."""
    (sample,) = re.findall(r"^```toml\n\[artist\]\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return str(sample)


def test_the_sample_on_the_page_is_right(tmp_path: Path) -> None:
    assert read(tmp_path, shown()).site == "sto"


WRONG = [
    ('catalogue = ""', "name a file or a URL"),
    ('catalogue = "c"\nat = "6 o\'clock"', "HH:MM in UTC"),
    ('catalogue = "c"\nnotification = []', "name an intake"),
    ("", "missing key catalogue"),
]


@pytest.mark.parametrize(("lines", "reason"), WRONG)
def test_what_cannot_work_is_refused_at_the_start(tmp_path: Path, lines: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        read(tmp_path, f'site = "sto"\nnode = "m1"\n{lines}\n')


def test_a_job_that_runs_by_itself_never_is_fine(tmp_path: Path) -> None:
    assert read(tmp_path, shown() + 'at = ""\n').at == ""
