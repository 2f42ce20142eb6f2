"""Makes `docs/codes.md` from the code table: `.venv/bin/python tests/architecture/codes_page.py`."""

from pathlib import Path

from infra.kernel.codes import ALL, Code

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "codes.md"

_INTRODUCTION = """\
# Error and close codes

What does this error mean, and does it help to try again?

A *fatal* code ends the connection. On a client WebSocket its number is also the close code. On an internal link it is the reason of
the goodbye. A code that is not fatal comes in one `error`, and the connection stays. A refused `hello` is the exception: it ends the
connection, whatever its code. *Reconnect* says whether trying again, unchanged, can help.

Over HTTP the status is the one in the last column, and the body is `{"code", "number", "reason"}`, in every API. 401 comes with
`WWW-Authenticate: Bearer`, 405 with `Allow`, 429 and 503 with `Retry-After` in seconds.

This page is made from `infra/kernel/codes.py` by `tests/architecture/codes_page.py`. A test compares the two.

| number | code | meaning | fatal | reconnect | HTTP |
|---|---|---|---|---|---|
"""


def render() -> str:
    """Returns the whole page."""
    return _INTRODUCTION + "".join(_row(code) for code in ALL)


def _row(code: Code) -> str:
    return f"| {code.number} | `{code.name}` | {code.text} | {_word(code.fatal)} | {_word(code.reconnect)} | {code.http} |\n"


def _word(flag: bool) -> str:
    return "yes" if flag else "no"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
