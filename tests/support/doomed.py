"""`segue notification` with a fault in its rule worker: `python -m tests.support.doomed FAULT notification --config FILE ...`.

untold: the process dies when it has stored what it decided and before it tells anybody. unkept: it tells, and never keeps how
far it went.
"""

import os
import signal
import sys

from notification.core import Plan
from notification.log import Log
from notification.worker import Worker
from segue.__main__ import main


async def _die(worker: Worker, plan: Plan) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def _forget(log: Log) -> None:
    pass


if __name__ == "__main__":
    match sys.argv.pop(1):
        case "untold":
            Worker._tell = _die  # type: ignore[assignment, method-assign]
        case "unkept":
            Log.save = _forget  # type: ignore[assignment, method-assign]
    main()
