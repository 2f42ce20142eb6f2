"""The page around a report: one file that needs no other file, no network and no script."""

from pathlib import Path
from string import Template
from typing import NamedTuple

from infra.kernel.html import Html, filled, joined

from .markup import element


class ContentsEntry(NamedTuple):
    """A line of the contents. `anchor` is the id of a section, `mark` is shown beside its title: the verdict at a glance."""

    anchor: str
    title: str
    mark: str = ""


def document(title: str, contents: list[ContentsEntry], *sections: Html) -> Html:
    """Returns the whole page: `title`, the lines of its `contents`, and its `sections`."""
    here = Path(__file__).parent
    listed = (element("li", element("a", entry.title, href=f"#{entry.anchor}"), _mark(entry)) for entry in contents)
    return filled(
        Template((here / "page.html").read_text(encoding="utf-8")),
        title=title,
        style=Html((here / "page.css").read_text(encoding="utf-8")),
        contents=element("ol", *listed),
        main=joined(*sections),
    )


def section(anchor: str, title: str, *content: str, kind: str = "") -> Html:
    """Returns a part of the page that the contents can lead to.

    `anchor`: its id. `title`: its heading. `content`: text or markup below the heading. `kind`: classes for its style.
    """
    return element("section", element("h2", title), *content, id=anchor, class_=kind)


def _mark(entry: ContentsEntry) -> Html:
    return element("span", entry.mark, class_="at-a-glance") if entry.mark else Html()
