"""A table for a terminal or a page, and the form of its numbers."""

from collections.abc import Sequence
from typing import NamedTuple

from analytics.report.markup import element, table
from infra.kernel.html import Html, joined


class Sheet(NamedTuple):
    """A table. The first `words` columns are words, all others numbers; `notes` stand under it."""

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    words: int = 1
    notes: tuple[str, ...] = ()

    def html(self) -> Html:
        """Returns the table for a page, without the title."""
        notes = (element("p", note, class_="source") for note in self.notes)
        return joined(table(self.head, self.rows, kind=f"numbers after-{self.words}"), *notes)


def percent(share: float) -> str:
    """Returns a share such as `71.8 %`."""
    return f"{100 * share:.1f} %"


def signed(share: float) -> str:
    """Returns a share with its sign, such as `+1.6 %` or `-3.5 %`."""
    return f"{100 * share:+.1f} %"


def ratio(value: float) -> str:
    """Returns a ratio such as `0.829`; it is rounded down, so that nothing looks better than it is."""
    return f"{int(1000 * value + 1e-6) / 1000:.3f}"


def amount(value: float) -> str:
    """Returns an amount such as `3,512,345`: whole, as parts of a subscriber matter to nobody; small amounts keep their decimals."""
    return f"{value:,.0f}" if value >= 100 or float(value).is_integer() else f"{value:,.2f}"


def seconds(value: float) -> str:
    """Returns a time such as `0.0123`, `0.42` or `12.3`."""
    return f"{value:.4f}" if value < 0.1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def usd(value: float) -> str:
    """Returns a price such as `3,314`, with cents where it is small."""
    return f"{value:,.0f}" if value >= 100 else f"{value:,.2f}"
