"""`segue notification` with a fault in its store: `python -m tests.support.doomed FAULT notification --config FILE ...`.

untold: the process dies when it has stored what it decided and before it tells anybody. unkept: it tells, and never keeps how
far it went.
"""

import os
import signal
import sys
from collections.abc import Mapping, Sequence

from notification.notice import Notice
from notification.ownership.core import FencingToken
from notification.store import Decision
from notification.store_sqlite import SqliteStore
from segue.__main__ import main

_decide = SqliteStore.decide


async def _decide_and_die(store: SqliteStore, decided: Sequence[tuple[Decision, Notice]], fence: FencingToken | None = None) -> None:
    await _decide(store, decided, fence)
    os.kill(os.getpid(), signal.SIGKILL)


async def _forget(store: SqliteStore, cursors: Mapping[int, int]) -> None:
    pass


if __name__ == "__main__":
    match sys.argv.pop(1):
        case "untold":
            SqliteStore.decide = _decide_and_die  # type: ignore[assignment, method-assign]
        case "unkept":
            SqliteStore.save_cursors = _forget  # type: ignore[assignment, method-assign]
    main()
