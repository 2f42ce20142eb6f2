"""docs/trace.md says what the schema says, and its example makes a valid trace."""

import re
from pathlib import Path

import msgspec
import pytest

from analytics.trace import Trace
from analytics.validation import validate
from infra.kernel.manifest import Manifest
from tests.analytics.trace_page import PAGE, with_tables

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_tables_of_the_page_equal_the_schema() -> None:
    assert with_tables(TEXT) == TEXT, "run: .venv/bin/python -m tests.analytics.trace_page"


def test_the_page_explains_every_key_of_the_manifest() -> None:
    section = TEXT.partition("## The manifest")[2].partition("### Limits")[0]
    rows = re.findall(r"^\| (`.+?) \|", section, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == {field.name for field in msgspec.structs.fields(Manifest)}


def test_the_example_of_the_page_makes_a_valid_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = re.search(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    assert code
    monkeypatch.chdir(tmp_path)
    exec(compile(code[1], str(PAGE), "exec"), {})  # noqa: S102 - our own page
    report = validate(Trace.open(tmp_path / "my-trace"))
    assert (report.defects, report.rows) == ((), {"subscriptions": 3, "publications": 3})
