"""Reasons of losses: one table, in the code and on the page."""

import re
from pathlib import Path

from infra.kernel.loss_reasons import EXPLAINED, LossReason

PAGE = Path(__file__).resolve().parents[3] / "docs" / "recovery.md"


def test_the_page_has_all_reasons_and_no_others_in_their_order() -> None:
    """DPS-5: what clients are told has one table."""
    section = PAGE.read_text(encoding="utf-8").partition("## Why something may be missing")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", section, re.MULTILINE) == [(str(each), text) for each, text in EXPLAINED.items()]
    assert list(EXPLAINED) == list(LossReason)
