"""segue.cli.rules: what the commands print, and what they say about mistakes."""

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from infra.kernel.errors import ConfigError
from rule_engine.load import default_text, load
from segue.cli.rules import rules

WIDE = {"COLUMNS": "200"}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(rules, arguments, env=WIDE)


def told(*arguments: str) -> list[str]:
    """Returns the printed lines of a command that succeeds."""
    result = run("explain", *arguments)
    assert result.exit_code == 0, result.output
    return [line.rstrip() for line in result.output.splitlines()]


def test_check_shows_every_default_rule() -> None:
    result = run("check")
    assert result.exit_code == 0
    rows = {line.split()[0]: line for line in result.output.splitlines() if line.strip()}
    assert {rule.name for rule in load(default_text(), "").rules} <= rows.keys()
    assert re.search(r"pushes_recent is at least 10 +never push", rows["push-throttle"])
    assert "mails_per_window 3" in result.output


def test_check_takes_a_file_or_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text(default_text(), encoding="utf-8")
    assert run("check", str(file)).exit_code == 0
    file.write_text(default_text().replace("never", "nver"), encoding="utf-8")
    trouble = run("check", str(file)).exception
    assert isinstance(trouble, ConfigError)
    assert str(trouble) == f"{file}: rule opted-out: unknown key nver; did you mean never?"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    missing, latin = tmp_path / "missing.toml", tmp_path / "latin.toml"
    latin.write_bytes("# Björk".encode("latin-1"))
    assert "missing.toml: cannot be read: No such file" in str(run("check", str(missing)).exception)
    assert "latin.toml: is not UTF-8 at byte 4" in str(run("check", str(latin)).exception)


def test_explain_shows_the_verdict_its_reasons_and_every_rule() -> None:
    lines = told("--topic", "artist", "--class", "new-album", "--fact", "mobile_known=true", "--fact", "quiet=true")
    assert lines[0] == "engine no, in-client yes, push after-quiet, email no, webhook no"
    assert lines[1] == "because offline-row, offline-push, ~push:quiet-hours"
    assert any(re.fullmatch(r" +yes +offline-push", line) for line in lines)
    assert any(re.fullmatch(r" +no +desktop +desktop is false, not true", line) for line in lines)


def test_explain_takes_numbers_and_a_file(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text('[[rule]]\nname = "busy"\nwhen.mails_recent.at_least = 2\nthen = ["in-client"]', encoding="utf-8")
    asked = ("--rules", str(file), "--topic", "playlist", "--fact")
    assert told(*asked, "mails_recent=2")[1] == "because busy"
    assert told(*asked, "mails_recent=1")[1] == "because no rule granted anything"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("--topic artist", "--topic artist goes with --class new-album, new-track, artist-playlist"),
        ("--topic artist --class friend-joined", "--topic artist goes with --class new-album"),
        ("--topic user --class playlist", "--topic user goes with --class left out"),
        ("--topic user --fact desktp=true", "--fact desktp=true: no such fact; did you mean desktop?"),
        ("--topic user --fact desktop", "--fact desktop: must be NAME=VALUE, as in desktop=true"),
        ("--topic user --fact desktop=maybe", "--fact desktop=maybe: must be true or false"),
        ("--topic user --fact mails_recent=many", "--fact mails_recent=many: must be a whole number"),
        ("--topic user --fact topic=user", "--fact topic=user: no such fact"),
        ("--topic inbox", "'inbox' is not one of 'user', 'playlist', 'artist', 'social'"),
    ],
)
def test_a_question_that_is_wrong_is_answered_with_what_would_be_right(arguments: str, complaint: str) -> None:
    result = run("explain", *arguments.split())
    assert result.exit_code == click.UsageError.exit_code
    assert complaint in " ".join(result.output.split())
