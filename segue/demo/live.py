"""The live view of a run on a terminal: one panel, which is drawn again and again in its place."""

from collections.abc import Iterator
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from infra.kernel.printable import printable
from segue.cli.palette import BAD, FRAME, GREEN, ON_GREEN, QUIET, SHADES
from segue.cli.top.screen import chart, count

from .figures import Figures
from .oracle import CROSS_SITE, LOCAL
from .show import Show, ShowPhase, milliseconds

FRAMES_PER_S: Final = 8
CHART_ROWS: Final = 4
MOST_WIDE: Final = 100
# A terminal with fewer lines does without the latest plays.
TALL: Final = 32


class LiveShow(Show):
    """A show that draws from a thread of its own, so that it moves even while the event loop is busy."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._phases: list[ShowPhase] = []
        self._notices: list[str] = []
        self._figures: Figures | None = None
        self._summary: RenderableType | None = None
        self._spinner = Spinner("dots", style=GREEN)
        self._live = Live(console=console, get_renderable=self.frame, refresh_per_second=FRAMES_PER_S)

    def __enter__(self) -> Show:
        self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._figures = None
        self._live.stop()

    def begun(self, phase: ShowPhase) -> None:
        self._phases.append(phase)

    def ended(self, phase: ShowPhase) -> None:
        pass

    def say(self, text: str) -> None:
        self._notices.append(text)

    def next_act(self) -> None:
        self._figures = None

    def playing(self, figures: Figures) -> None:
        self._figures = figures

    def summary(self, summary: RenderableType) -> None:
        self._summary = summary

    def frame(self) -> RenderableType:
        """Returns the panel of this moment."""
        width = min(self.console.width, MOST_WIDE)
        body = Group(self._steps(), *self._words(), *self._body(width))
        title = Text.assemble((" segue ", ON_GREEN), (" demo ", f"bold {GREEN}"))
        foot = Text(" Ctrl-C ends the playing ", style=QUIET) if self._is_playing() else None
        return Panel(
            body, width=width, padding=(1, 2), title=title, title_align="left", subtitle=foot, subtitle_align="right", border_style=FRAME
        )

    def _is_playing(self) -> bool:
        return self._figures is not None and not self._phases[-1].is_over

    def _steps(self) -> Table:
        grid = Table.grid(padding=(0, 1), expand=True)
        for ratio in (None, None, 1, None):
            grid.add_column(ratio=ratio, no_wrap=ratio is None, justify="left")
        for phase in list(self._phases):
            took = Text(f"{phase.took_s:.1f} s", style=QUIET)
            mark = Text("✓", style=GREEN) if phase.is_over else self._spinner
            grid.add_row(mark, Text(f"{phase.name:8}", style="bold"), Text(phase.outcome) if phase.is_over else _bar(phase), took)
        return grid

    def _words(self) -> Iterator[RenderableType]:
        if self._summary is None:
            yield from (Padding(Text(notice), (1, 0, 0, 2)) for notice in list(self._notices))

    def _body(self, width: int) -> Iterator[RenderableType]:
        if self._summary is not None:
            yield Padding(self._summary, (1, 0, 0, 0))
        elif (figures := self._figures) is not None:
            yield Padding(_table(figures), (1, 0, 0, 2))
            yield Padding(Group(*_chart(figures, width - 16)), (1, 0, 0, 2))
            if self.console.height >= TALL:
                yield Padding(_recent(figures), (1, 0, 0, 2))


def _bar(phase: ShowPhase) -> RenderableType:
    if phase.total is None:
        return ProgressBar(pulse=True, width=44, style=FRAME, pulse_style=GREEN)
    grid = Table.grid(padding=(0, 2))
    bar = ProgressBar(phase.total, phase.done, width=44, style=FRAME, complete_style=GREEN, finished_style=GREEN)
    grid.add_row(bar, Text(f"{phase.done:,.0f} of {phase.total:,.0f} {phase.unit}", style=QUIET))
    return grid


def _table(figures: Figures) -> Table:
    grid = Table.grid(padding=(0, 2))
    for column in range(8):
        grid.add_column(justify="left" if column in (0, 4) else "right", min_width=(10, 8, 9, 4, 10, 8, 8, 8)[column], no_wrap=True)
    quiet = [Text(word, style=QUIET) for word in ("latency", "p50", "p99", "max")]
    lost = Text(f"{figures.lost:,}", style=BAD if figures.lost else "bold")
    rows = (
        (("plays", f"{figures.events:,}", f"{count(figures.events_per_s)}/s", ""), quiet),
        (("deliveries", f"{figures.delivered:,}", f"{count(figures.deliveries_per_s)}/s", ""), _latency(figures, "local", LOCAL)),
        (("lost", lost, "", ""), _latency(figures, "cross-site", CROSS_SITE)),
    )
    for (name, number, rate, gap), latency in rows:
        grid.add_row(Text(name, style=QUIET), number if isinstance(number, Text) else Text(number, style="bold"), rate, gap, *latency)
    return grid


def _latency(figures: Figures, name: str, reach: str) -> list[Text]:
    latency = figures.latency_ms[reach]
    return [Text(name, style=QUIET), *(Text(milliseconds(value)) for value in (latency.p50, latency.p99, latency.max))]


def _chart(figures: Figures, columns: int) -> Iterator[Text]:
    peak = max(figures.history, default=0.0)
    yield Text.assemble(("deliveries/s", QUIET), ("   peak ", QUIET), count(peak))
    marks = [count(peak) if peak else "", *[""] * (CHART_ROWS - 2), "0"]
    for mark, row, shade in zip(marks, chart(figures.history, columns, CHART_ROWS), SHADES, strict=False):
        yield Text.assemble((f"{mark:>6} ┤", QUIET), (row, shade), no_wrap=True)


def _recent(figures: Figures) -> Table:
    grid = Table.grid(padding=(0, 1), expand=True)
    for ratio in (None, None, 1, None):
        grid.add_column(ratio=ratio, no_wrap=True)
    for play, friends in figures.recent:
        what = Text(f"{printable(play.artist_name)} · Track {play.track_no}")
        grid.add_row(Text("♪", style=GREEN), Text(f"{play.user:12}", style="bold"), what, Text(f"→ {_friends(friends)}", style=QUIET))
    return grid


def _friends(number: int) -> str:
    return f"{number} friend{'' if number == 1 else 's'}"


def show_here() -> Show:
    """Returns a show on the standard output: drawn if that is a terminal, else as plain lines."""
    console = Console(highlight=False)
    return LiveShow(console) if console.is_terminal else Show(console)
