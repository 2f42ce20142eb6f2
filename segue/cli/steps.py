"""The steps of a command that takes its time, told while it works."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text


@contextmanager
def told_steps(console: Console) -> Iterator[Callable[[str], None]]:
    """Yields a function that tells on `console` which step begins: on a terminal in place, elsewhere line by line, with the time so far."""
    began_s = time.perf_counter()
    with console.status("") as status:

        def begun(step: str) -> None:
            status.update(Text(step))
            if not console.is_terminal:
                console.print(f"{time.perf_counter() - began_s:6.1f} s  {step}", highlight=False, markup=False)

        yield begun
