"""The progress of studies: on a terminal as bars, elsewhere line by line."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

# Where there is no terminal a study tells at most one step in so many seconds.
_PAUSE_S: Final = 5.0


@contextmanager
def study_bars(titles: dict[str, str], console: Console) -> Iterator[Callable[[str, str], None]]:
    """Yields a function that is told the key of a study and what it does now, or "" when it has ended. `titles`: by key, of all studies."""
    if not console.is_terminal:
        yield _Lines(titles, console).tell
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        every = bars.add_task("studies", total=len(titles))
        tasks = {key: bars.add_task(title, total=1, visible=False, start=False) for key, title in titles.items()}

        def tell(key: str, step: str) -> None:
            if step:
                bars.start_task(tasks[key])
                bars.update(tasks[key], description=f"{titles[key]}: {step}", visible=True)
            else:
                bars.update(tasks[key], completed=1, visible=False)
                bars.advance(every)

        yield tell


class _Lines:
    """Steps as lines, with the time so far."""

    def __init__(self, titles: dict[str, str], console: Console) -> None:
        self._titles, self._console = titles, console
        self._began_s = time.perf_counter()
        self._last_s: dict[str, float] = {}

    def tell(self, key: str, step: str) -> None:
        """Prints the first step of a study, its end, and between them no more than one step in a while."""
        now_s = time.perf_counter()
        if step and now_s - self._last_s.get(key, -_PAUSE_S) < _PAUSE_S:
            return
        self._last_s[key] = now_s
        said = f"{now_s - self._began_s:6.1f} s  {self._titles[key]}: {step or 'done'}"
        self._console.print(said, highlight=False, markup=False, soft_wrap=True)
