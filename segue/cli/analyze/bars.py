"""Progress of a long step, as bars."""

from rich.progress import Progress, TaskID


class Bars:
    """Progress bars, one for each step. A bar is made when its step begins."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._tasks: dict[str, TaskID] = {}

    def show(self, step: str, done: int, total: int) -> None:
        """Shows that `done` of `total` of `step` are done."""
        if step not in self._tasks:
            self._tasks[step] = self._bars.add_task(step, total=total)
        self._bars.update(self._tasks[step], completed=done)
