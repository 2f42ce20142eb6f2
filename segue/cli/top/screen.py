"""The look of one frame of `segue top`: figures in, something that rich can print out. Readable from 100 columns on."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ..palette import BAD, FRAME, GREEN, ON_GREEN, QUIET, SHADES, WARN
from .frame import TopRow, TopView

HISTORY: Final = 240  # samples that the chart of the widest terminal shows, one column each
_CHART_ROWS: Final = 4
_BLOCKS: Final = " ▁▂▃▄▅▆▇█"
_UNITS: Final = (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3))


def screen(view: TopView, history: Sequence[float], footer: str, width: int) -> RenderableType:
    """Returns the whole frame of `view` for `width` columns, with `footer` at its end.

    `history` holds the total deliveries/s of the last frames, the newest last. Without any there is no chart.
    """
    title = Text.assemble((" segue ", ON_GREEN), (" top ", f"bold {GREEN}"))
    subtitle = Text(f" {footer} ", style=QUIET)
    body = Group(_summary(view), Text(), _sites(view, width), *_deliveries(history, width), *_alerts(view))
    return Panel(body, padding=(1, 2, 0, 2), title=title, title_align="left", subtitle=subtitle, subtitle_align="right", border_style=FRAME)


def chart(values: Sequence[float], width: int, height: int) -> list[str]:
    """Returns `height` lines of `width` characters. The newest of `values` is at the right edge, and the highest fills the height.

    A value above 0 shows at least the lowest block, so that little does not look like nothing.
    """
    shown = list(values)[-width:]
    peak = max(shown, default=0.0)
    steps = [max(1, round(value / peak * height * 8)) if value > 0 else 0 for value in shown]
    columns = [0] * (width - len(steps)) + steps
    return ["".join(_BLOCKS[min(8, max(0, step - 8 * row))] for step in columns) for row in reversed(range(height))]


def count(number: float) -> str:
    """Returns `number` in at most six characters: `0.4`, `97`, `9,999`, `97.1k`, `1.23M`."""
    if number < 10:
        return f"{number:.1f}".removesuffix(".0")
    if number < 9_999.5:
        return f"{number:,.0f}"
    return _scaled(number)


def size(size_bytes: float) -> str:
    """Returns a number of bytes with a decimal prefix: `0 B`, `512 B`, `41.2 MB`."""
    if size_bytes < 999.5:
        return f"{size_bytes:.0f} B"
    scaled = _scaled(size_bytes)
    return f"{scaled[:-1]} {scaled[-1]}B"


def _scaled(number: float) -> str:
    letter, factor = next(unit for unit in _UNITS if number >= unit[1] * 0.9995)
    value = number / factor
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}{letter}"


def _summary(view: TopView) -> Text:
    facts = ((len(view.rows), "site", "sites"), (view.processes, "process", "processes"), (view.total.roles, "role", "roles"))
    line = Text("  ").join(Text.assemble((str(n), "bold"), " ", (one if n == 1 else many, QUIET)) for n, one, many in facts)
    lag_style = "bold" if view.loop_lag_s < 0.05 else WARN
    return line.append_text(Text.assemble(("  loop lag ", QUIET), (f"{view.loop_lag_s * 1000:.0f} ms", lag_style)))


_WIDE: Final = 98  # columns that the whole table needs; a narrower terminal gets it without `_SPARED`
_SPARED: Final = ("topics", "cross/s", "queued")


def _sites(view: TopView, width: int) -> Table:
    table = Table(
        box=box.HORIZONTALS, show_edge=False, expand=True, pad_edge=False, padding=(0, 1, 0, 0), header_style=QUIET, border_style=FRAME
    )
    table.add_column("site", no_wrap=True)
    names = [name for name in _cells(view.total) if width >= _WIDE or name not in _SPARED]
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for row in view.rows:
        cells = _cells(row)
        table.add_row(Text(row.site, style=f"bold {GREEN}"), *(cells[name] for name in names), end_section=row is view.rows[-1])
    total = _cells(view.total)
    table.add_row("total", *(total[name] for name in names), style="bold")
    return table


def _cells(row: TopRow) -> dict[str, Text]:
    return {
        "clients": _figure(row.connections, count),
        "topics": _figure(row.topics, count),
        "subscr.": _figure(row.subscriptions, count),
        "events/s": _figure(row.events_per_s, count),
        "deliver/s": _figure(row.deliveries_per_s, count),
        "cross/s": _figure(row.site_copies_per_s, count),
        "queued": _figure(row.queue_bytes, size),
        "drops": Text(count(row.drops), style=BAD if row.drops_per_s else WARN if row.drops else QUIET),
        "memory": _figure(row.rss_bytes, size),
        "cpu": _figure(row.cpu_percent, "{:.0f} %".format),
    }


def _figure(value: float | None, show: Callable[[float], str]) -> Text:
    return Text("-" if value is None else show(value), style="" if value else QUIET)


_MARGIN: Final = 14  # columns around the chart: the panel's edges, the scale


def _deliveries(history: Sequence[float], width: int) -> Iterator[Text]:
    if not history:
        return
    columns = min(HISTORY, max(10, width - _MARGIN))
    shown = list(history)[-columns:]
    peak, now = max(shown), shown[-1]
    yield Text()
    yield Text.assemble(("deliveries/s", "bold"), ("   now ", QUIET), (count(now), f"bold {GREEN}"), ("   peak ", QUIET), count(peak))
    marks = [count(peak) if peak else "", *[""] * (_CHART_ROWS - 2), "0"]
    for mark, line, shade in zip(marks, chart(shown, columns, _CHART_ROWS), SHADES, strict=True):
        yield Text.assemble((f"{mark:>6} ┤", QUIET), (line, shade), no_wrap=True)


def _alerts(view: TopView) -> Iterator[Text]:
    alerts = [(BAD, "unreachable", *alert, "; trying again") for alert in view.unreachable]
    alerts += [(WARN, "not ready", *alert, "") for alert in view.not_ready]
    if alerts:
        yield Text()
    for style, what, subject, reason, next_ in alerts:
        yield Text.assemble((f"● {what} ", style), subject, (f"  {reason}{next_}", QUIET))
