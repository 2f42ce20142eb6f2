"""Makes `clients/js/src/codes.ts` from the code table: `.venv/bin/python -m tests.architecture.codes_script`."""

from typing import Final

from infra.kernel.codes import ALL, Code
from tests.architecture.sources import ROOT

SCRIPT: Final = ROOT / "clients" / "js" / "src" / "codes.ts"

_HEAD: Final = """\
/** The table of codes. It is made from `infra/kernel/codes.py` by `tests/architecture/codes_script.py`; a test compares the two. */

/** One row: `fatal` codes end the connection, and `reconnect` says whether trying again, unchanged, can help. */
export interface Code {
  readonly number: number;
  readonly name: string;
  readonly fatal: boolean;
  readonly reconnect: boolean;
}

const FATAL = 1;
const RECONNECT = 2;

const ROWS: readonly (readonly [number: number, name: string, flags: number])[] = [
"""
_TAIL: Final = """\
];

const ALL: readonly Code[] = ROWS.map(([number, name, flags]) => {
  return { number, name, fatal: (flags & FATAL) > 0, reconnect: (flags & RECONNECT) > 0 };
});

/** Returns the row with this name or, failing that, this number; undefined where the table has neither: the server is newer. */
export function codeOf(name?: string, number?: number): Code | undefined {
  return ALL.find((row) => row.name === name) ?? ALL.find((row) => row.number === number);
}
"""


def render() -> str:
    """Returns the whole script."""
    return _HEAD + "".join(_row(code) for code in ALL) + _TAIL


def _row(code: Code) -> str:
    flags = [name for name, holds in (("FATAL", code.fatal), ("RECONNECT", code.reconnect)) if holds]
    return f'  [{code.number}, "{code.name}", {" | ".join(flags) or 0}],\n'


if __name__ == "__main__":
    SCRIPT.write_text(render(), encoding="utf-8")
