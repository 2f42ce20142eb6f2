"""docs/metrics.md says what the tables of the roles say."""

from tests.deploy.metrics_page import PAGE, render


def test_the_page_equals_the_tables() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run: .venv/bin/python -m tests.deploy.metrics_page"
