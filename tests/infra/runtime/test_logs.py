"""infra.runtime.logs: one line per record, in the form that was asked for, whoever wrote it."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from infra.runtime.logs import configure, get_logger


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """Gives logging, which is the process's, back as it was found."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers = []
    yield
    root.handlers = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def test_a_json_line_carries_who_wrote_it_and_its_fields() -> None:
    out = io.StringIO()
    logger = get_logger("broker", "b1", "sto")
    configure("json", "info", out)
    logger.info("peer up", peer="lon/b1")
    line = json.loads(out.getvalue())
    assert line.pop("ts").endswith("Z")
    assert line == {"event": "peer up", "level": "info", "role": "broker", "node": "b1", "site": "sto", "peer": "lon/b1"}


def test_records_of_the_standard_library_take_the_same_form() -> None:
    out = io.StringIO()
    configure("json", "warning", out)
    logging.getLogger("asyncio").warning("%s was slow", "x", extra={"seconds": 2})
    logging.getLogger("asyncio").info("not this one")
    line = json.loads(out.getvalue())
    assert (line["event"], line["level"], line["seconds"]) == ("x was slow", "warning", 2)
    assert "ts" in line


def test_what_is_below_the_level_is_not_written() -> None:
    out = io.StringIO()
    configure("console", "warning", out)
    logger = get_logger("accesspoint", "a1", "sto")
    logger.info("session opened")
    logger.warning("session evicted")
    assert "session evicted" in out.getvalue()
    assert "opened" not in out.getvalue()


def test_the_last_configuration_wins_also_for_loggers_that_exist() -> None:
    first, second = io.StringIO(), io.StringIO()
    configure("console", "error", first)
    logger = get_logger("broker", "b1", "sto")
    logger.info("early")
    configure("json", "info", second)
    logger.info("late")
    assert first.getvalue() == ""
    assert json.loads(second.getvalue())["event"] == "late"


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_traceback_never_shows_local_variables(form: str) -> None:
    out = io.StringIO()
    configure("console" if form == "console" else "json", "info", out)
    token = "eyJhbGciOi" + "x" * 20
    try:
        raise ZeroDivisionError(len(token) // 30)
    except ZeroDivisionError:
        get_logger("broker", "b1", "sto").exception("defect")
    assert "ZeroDivisionError" in out.getvalue()
    assert token not in out.getvalue()


def test_a_text_of_a_stranger_begins_no_line_and_tells_a_terminal_nothing() -> None:
    """Log injection: whatever is logged is one line, and can be shown."""
    out = io.StringIO()
    configure("console", "info", out)
    logger = get_logger("social", "f1", "sto")
    logger.info("call refused", reason="x\n2026-01-01 00:00:00 [info     ] all is well\x1b[2J", names=["\x1b[31m"])
    logging.getLogger("aiohttp").warning("%s", "a\nb\x9b")
    first, second = out.getvalue().splitlines()
    assert "\\u000a2026" in first
    assert "\\u000ab\\u009b" in second
    assert (first + second).isprintable()


def test_a_traceback_keeps_its_lines_and_nothing_else_of_a_stranger() -> None:
    out = io.StringIO()
    configure("console", "info", out)
    try:
        raise ValueError("\x1b[2J")
    except ValueError:
        get_logger("social", "f1", "sto").exception("a step failed")
    lines = out.getvalue().splitlines()
    assert len(lines) > 2
    assert all(line.isprintable() for line in lines)
    assert "ValueError: \\u001b[2J" in lines[-1]
