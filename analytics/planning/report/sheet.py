"""A table, whether for a terminal or for a page, and how its numbers are written."""

from collections.abc import Sequence
from typing import NamedTuple

from analytics.report.markup import Html, element, joined, table


class Sheet(NamedTuple):
    """The first `words` columns are words, all others numbers; `notes` are said under them."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    words: int = 1
    notes: tuple[str, ...] = ()

    def html(self) -> Html:
        """For a page, without the title."""
        notes = (element("p", note, class_="source") for note in self.notes)
        return joined(table(self.head, self.rows, kind=f"numbers after-{self.words}"), *notes)


def percent(share: float) -> str:
    """`71.8 %`."""
    return f"{100 * share:.1f} %"


def signed(share: float) -> str:
    """`+1.6 %`, `-3.5 %`."""
    return f"{100 * share:+.1f} %"


def ratio(value: float) -> str:
    """`0.829`; rounded down, so that nothing looks better than it is."""
    return f"{int(1000 * value + 1e-6) / 1000:.3f}"


def amount(value: float) -> str:
    """`3,512,345`: whole, as parts of a subscriber matter to nobody; but small ones are told in full."""
    return f"{value:,.0f}" if value >= 100 or float(value).is_integer() else f"{value:,.2f}"


def seconds(value: float) -> str:
    """`0.0123`, `0.42`, `12.3`."""
    return f"{value:.4f}" if value < 0.1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def usd(value: float) -> str:
    """`3,314`, with cents where there are few."""
    return f"{value:,.0f}" if value >= 100 else f"{value:,.2f}"
