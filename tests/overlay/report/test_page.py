"""The page of the laboratory."""

import re
from pathlib import Path

from overlay.report.claims import AnsweredStudy
from overlay.report.page import PAGE, render, write
from tests.support.made_studies import COUNTING
from tests.support.tiny_studies import tiny

ANSWERED = [AnsweredStudy(COUNTING, tiny(COUNTING)), AnsweredStudy(COUNTING._replace(key="again", sources=""), tiny(COUNTING))]


def test_the_page_has_the_claims_on_top_and_then_each_study_with_plot_claims_and_table() -> None:
    page = render(ANSWERED, "quick", 7)
    assert re.findall(r'<section id="([^"]+)"', page) == ["claims", "counting", "again"]
    assert page.count('<svg class="plot"') == 2
    assert page.count("<figcaption><strong>Counts</strong></figcaption>") == 2
    assert "Drawn anew: figure 1" in page
    assert "Not in the papers" in page
    assert "Quick: a tenth" in page
    assert "Seed 7." in page
    assert page.count('class="at-a-glance">1 ✓ 1 ✗ 1 ○<') == 2


def test_every_link_leads_to_a_section_or_to_a_file_that_was_written(tmp_path: Path) -> None:
    page = write(tmp_path, ANSWERED, "quick", 7)
    text = page.read_text()
    assert page.name == PAGE
    for link in re.findall(r'href="([^"]+)"', re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL)):
        assert f'id="{link[1:]}"' in text if link.startswith("#") else (tmp_path / link).exists()
    assert len((tmp_path / "counting" / "some-counts.csv").read_text().splitlines()) == 101


def test_the_page_needs_no_other_file_no_network_and_no_script() -> None:
    page = render(ANSWERED, "full", 1)
    assert not re.search(r"<script|<link|src=|@import|url\((?!#)", page)
    assert "http" not in page.replace("http://www.w3.org", "")
