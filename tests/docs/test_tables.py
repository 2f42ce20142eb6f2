"""Every entry of the harness' tables still stands on a page, says why, and is needed."""

import re

import pytest

from tests.docs.order import PAGES, ROOT
from tests.docs.page import Command, Script, steps
from tests.docs.tables import NOT_RUN, REPLACED, SERVERS, as_run, is_server, why_not

ASKED = [
    (page, step.text) for page in PAGES for step in steps((ROOT / page).read_text(encoding="utf-8")) if isinstance(step, Command | Script)
]
COMMANDS = [text for page, text in ASKED if why_not(page, text) is None]


@pytest.mark.parametrize("entry", NOT_RUN)
def test_what_does_not_run_stands_on_its_page_and_says_why(entry: str) -> None:
    assert any(f"{page}: {text}\n".startswith(entry) for page, text in ASKED)
    assert NOT_RUN[entry]


@pytest.mark.parametrize("printed", REPLACED)
def test_what_runs_in_another_form_stands_on_a_page_that_runs_it(printed: str) -> None:
    run, reason = REPLACED[printed]
    assert any(re.search(printed, command) for command in COMMANDS)
    assert run
    assert reason


@pytest.mark.parametrize("pattern", SERVERS)
def test_what_stays_in_the_background_stands_on_a_page_that_runs_it(pattern: str) -> None:
    assert any(re.match(pattern, as_run(command)) for command in COMMANDS)


def test_a_command_that_ends_by_itself_is_no_server() -> None:
    assert is_server("segue listen --notifications --user alice --count 1") is None
    assert is_server("segue top") is None


def test_every_page_of_the_index_is_walked_and_none_is_left_out() -> None:
    walked = set(PAGES)
    assert {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")} - walked == set()
    assert walked >= {"README.md", "CONTRIBUTING.md", "examples/README.md", "infra/deploy/README.md", "bench/README.md"}
