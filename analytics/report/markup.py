"""HTML that is safe by construction: text is escaped unless it is `Html` already."""

from collections.abc import Sequence
from html import escape
from typing import Final

_VOID: Final = frozenset({"br", "hr", "meta"})


class Html(str):
    """Markup that may stand in a page as it is."""

    __slots__ = ()


def joined(*parts: str) -> Html:
    """The parts one after the other; those that are plain text are escaped."""
    return Html("".join(part if isinstance(part, Html) else escape(part) for part in parts))


def element(name: str, *content: str, **attributes: str) -> Html:
    """`<name attributes>content</name>`. An attribute `class_` is written `class`, `aria_label` `aria-label`."""
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    return Html(f"<{name}{given}>") if name in _VOID else Html(f"<{name}{given}>{joined(*content)}</{name}>")


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], *, kind: str = "") -> Html:
    """A table that scrolls sideways where it does not fit. `kind`: classes for its style."""
    top = element("thead", element("tr", *(element("th", cell, scope="col") for cell in head)))
    body = element("tbody", *(element("tr", *(element("td", cell) for cell in row)) for row in rows))
    return element("div", element("table", top, body, class_=kind), class_="scroll")


def terms(rows: list[tuple[str, str]]) -> Html:
    """A list of terms and what is to be said of each."""
    return element("dl", *(joined(element("dt", term), element("dd", said)) for term, said in rows))
