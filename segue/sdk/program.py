"""A program of the SDK: it runs as with `asyncio.run`, and ends quietly."""

from collections.abc import Coroutine
from typing import Any, TypeVar

from infra.runtime.standard_output import guarded
from infra.runtime.stopping import die, heeding

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Runs `main` to its end and returns what it returns, as `asyncio.run` does, on uvloop where that is installed.

    Ctrl-C and SIGTERM cancel it, so that its `async with` blocks are left properly. Then the program ends without a word, with the exit
    code 130 or 143. A second signal ends it at once. When nobody reads its standard output any more, it ends with 0.
    """
    with heeding(die), guarded():  # there is nothing to undo before the loop runs
        from infra.runtime.event_loop import run as run_loop

        return run_loop(main)
