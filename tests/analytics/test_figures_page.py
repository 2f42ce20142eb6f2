"""docs/figures.md explains every figure and every measure, and no other."""

import re
from pathlib import Path

from analytics.figures import FIGURES
from analytics.measures import MEASURES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "figures.md").read_text(encoding="utf-8")


def test_every_figure_has_a_section_with_its_title_and_its_numbers_in_the_thesis() -> None:
    sections = dict(re.findall(r"^## [^\n]+ \(`(\w+)`\)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
    assert list(sections) == list(FIGURES)
    for key, figure in FIGURES.items():
        assert f"## {figure.title} (`{key}`)" in PAGE
        for number in filter(None, (figure.spotify, figure.twitter)):
            assert number in sections[key]


def test_every_measure_is_there_with_its_meaning() -> None:
    rows = dict(re.findall(r"^\| `([^`]+)` \| (.+) \|$", PAGE, re.MULTILINE))
    assert {name: meaning.replace("\\|", "|") for name, meaning in rows.items()} == MEASURES
