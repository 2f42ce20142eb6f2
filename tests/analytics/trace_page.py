"""Writes the tables of `docs/trace.md` anew: `.venv/bin/python -m tests.analytics.trace_page`."""

import re
from pathlib import Path
from typing import Final

from infra.kernel.trace import TABLES, Column, Table

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "trace.md"


def with_tables(page: str) -> str:
    """Returns the page, with what stands below the heading of each table made from the schema."""
    sections = rf"(### ({'|'.join(TABLES)})\n\n).*?(?=^##)"
    return re.sub(sections, lambda found: found[1] + _section(TABLES[found[2]]), page, flags=re.MULTILINE | re.DOTALL)


def _section(table: Table) -> str:
    traits = []
    if table.key:
        traits.append(f"Unique by {', '.join(f'`{name}`' for name in table.key)}.")
    if table.by_time:
        traits.append("Rows of a file rise in `time_ms`.")
    head = f"{table.meaning[0].upper()}{table.meaning[1:]}. {' '.join(traits)}\n\n| column | type | null | meaning |\n|---|---|---|---|\n"
    return head + "".join(map(_row, table.columns)) + "\n"


def _row(column: Column) -> str:
    words = f": {', '.join(f'`{word}`' for word in column.words)}" if column.words else ""
    return f"| `{column.name}` | {column.type} | {'yes' if column.may_be_null else 'no'} | {column.meaning}{words} |\n"


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
