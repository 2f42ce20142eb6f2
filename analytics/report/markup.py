"""Elements, tables and lists of a page. Text in them is escaped (`infra.kernel.html`)."""

from collections.abc import Sequence
from typing import Final

from infra.kernel.html import Html, escaped, joined

_VOID: Final = frozenset({"br", "hr", "meta"})


def element(name: str, *content: str, **attributes: str) -> Html:
    """Returns `<name attributes>content</name>`. An attribute `class_` is written `class`, and `aria_label` is written `aria-label`."""
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"' for key, value in attributes.items())
    return Html(f"<{name}{given}>") if name in _VOID else Html(f"<{name}{given}>{joined(*content)}</{name}>")


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], *, kind: str = "") -> Html:
    """Returns a table that scrolls sideways where it does not fit.

    `head`: names of the columns. `rows`: one tuple of cells each, text or markup. `kind`: classes for its style.
    """
    top = element("thead", element("tr", *(element("th", cell, scope="col") for cell in head)))
    body = element("tbody", *(element("tr", *(element("td", cell) for cell in row)) for row in rows))
    return element("div", element("table", top, body, class_=kind), class_="scroll")


def terms(rows: list[tuple[str, str]]) -> Html:
    """Returns a list of terms, each with what there is to say of it."""
    return element("dl", *(joined(element("dt", term), element("dd", said)) for term, said in rows))
