"""What both pages have."""

from analytics.report.document import section
from analytics.report.markup import Html, element

from .sheet import Sheet


def answered(lines: list[str]) -> Html:
    """The answers in words, before all numbers."""
    return section("answers", "In short", element("ul", *(element("li", line) for line in lines)))


def sheet_section(key: str, sheet: Sheet) -> Html:
    """A table under its title."""
    return section(key, sheet.title, sheet.html())


def sizes(rows: list[tuple[str, str]]) -> Html:
    """The numbers that say how large a problem is, each with its unit."""
    return element("ul", *(element("li", element("b", value), f" {unit}") for value, unit in rows), class_="sizes")
