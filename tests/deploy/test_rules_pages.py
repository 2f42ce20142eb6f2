"""docs/rules.md and docs/preferences.md: their examples are taken, their tables are complete, and what they state is so."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from infra.kernel.topics import Kind
from rule_engine.facts import CLASSES, CLASSES_OF, FACTS, Facts
from rule_engine.load import default_text, load
from rule_engine.preferences import DAYS, DIGESTS, Preferences, parse
from rule_engine.settings import Settings
from rule_engine.verdict import CHANNELS
from tests.rule_engine.told import told

DOCS = Path(__file__).resolve().parents[2] / "docs"
RULES = (DOCS / "rules.md").read_text(encoding="utf-8")
PREFERENCES = (DOCS / "preferences.md").read_text(encoding="utf-8")

DEFAULT = load(default_text(), "default")
_SOMEBODY = Facts(topic=Kind.USER, mobile_known=True, email_known=True)
COLUMNS = (replace(_SOMEBODY, desktop=True), replace(_SOMEBODY, mobile=True), _SOMEBODY, replace(_SOMEBODY, email_off=True))


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def section(page: str, heading: str) -> str:
    return page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def rows(text: str) -> list[str]:
    """Returns the rows of the table in it, without the head."""
    return [line for line in text.splitlines() if line.startswith("| ")][1:]


def first_cells(text: str) -> set[str]:
    """Returns the words in code style in the first column of a table."""
    return {word for line in text.splitlines() if line.startswith("| `") for word in re.findall(r"`(\w+)`", line.split("|")[1])}


@pytest.mark.parametrize("text", blocks(RULES, "toml"), ids=lambda text: re.findall(r'name = "(.+)"', text)[0])
def test_a_rule_file_on_the_page_is_one(text: str) -> None:
    assert load(text, "rules.md").rules


def test_the_page_lists_every_fact_and_every_class() -> None:
    facts = section(RULES, "Facts")
    assert first_cells(facts) == set(FACTS)
    assert set(re.findall(r"`([\w-]+)`", next(line for line in facts.splitlines() if line.startswith("| `class`")))) >= set(CLASSES)


def test_the_page_states_the_settings_as_they_are() -> None:
    (text,) = blocks(section(RULES, "Settings"), "toml")
    assert load(text, "rules.md").settings.numbers == Settings().numbers
    assert DEFAULT.settings == Settings()


@pytest.mark.parametrize("row", rows(section(RULES, "What the default rules say")))
def test_the_table_of_the_default_rules_is_what_they_decide(row: str) -> None:
    topics, *cells = row.strip("|").split("|")
    for kind in [kind for kind in Kind if kind in topics]:
        for column, cell in zip(COLUMNS, cells, strict=True):
            facts = replace(column, topic=kind, cls=CLASSES_OF[kind][0], friend="friend" in topics)
            assert told(DEFAULT.decide(facts)) == set(re.findall("|".join(CHANNELS), cell))


def test_the_preferences_on_the_page_are_taken_and_all_are_listed() -> None:
    (text,) = blocks(PREFERENCES, "json")
    assert parse(text.encode()) != Preferences()
    assert first_cells(PREFERENCES) == set(Preferences.__struct_encode_fields__)
    words = set(re.findall(r"`([\w-]+)`", PREFERENCES))
    assert words >= {*CLASSES, "in-client", "push", "email"}
    assert words & {*DIGESTS, *DAYS} == {"daily", "weekly"}
