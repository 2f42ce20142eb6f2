"""axe-core, which looks at a page as those do who cannot see it, or not well: names, roles, contrast."""

import json
from typing import Any

from .browser import Tab
from .node import PACKAGE


async def judge(browser: Tab, rules: dict[str, Any] | None = None) -> None:
    """Has axe-core look at the page, with `rules` as it calls them. Fails with each rule that is broken, and where.

    It is one of the packages of `clients/js`, so ask for those first (`built`).
    """
    await browser.value((PACKAGE / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8") + ";0")
    found = await browser.value(f"axe.run(document, {{ rules: {json.dumps(rules or {})} }})")
    broken = [(each["id"], [(node["target"], node["failureSummary"]) for node in each["nodes"]]) for each in found["violations"]]
    assert broken == [], broken
