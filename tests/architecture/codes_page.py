"""Makes `docs/codes.md` from the code table: `.venv/bin/python tests/architecture/codes_page.py`."""

from pathlib import Path

from infra.kernel.codes import ALL, Code

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "codes.md"

_INTRODUCTION = """\
# Error and close codes

Made from `infra/kernel/codes.py` by `tests/architecture/codes_page.py`; a test compares the two.

A *fatal* code ends the conversation. On a client WebSocket its number is also the close code, on an internal link it is the reason of
the goodbye. A code that is not fatal is answered with one `error`, and the conversation goes on; only a `hello` that is refused ends it
with whatever code. *Reconnect* says whether trying again, unchanged, can help.

Over HTTP the status is the one in the last column and the body `{"code", "number", "reason"}`, at every door. 401 comes with
`WWW-Authenticate: Bearer`, 405 with `Allow`, 429 and 503 with `Retry-After` in seconds.

| number | code | meaning | fatal | reconnect | HTTP |
|---|---|---|---|---|---|
"""


def render() -> str:
    """The page, whole."""
    return _INTRODUCTION + "".join(_row(code) for code in ALL)


def _row(code: Code) -> str:
    return f"| {code.number} | `{code.name}` | {code.text} | {_word(code.fatal)} | {_word(code.reconnect)} | {code.http} |\n"


def _word(flag: bool) -> str:
    return "yes" if flag else "no"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
