"""The page of a study: one file that needs no other."""

from collections.abc import Sequence
from typing import NamedTuple

from analytics.numbers import number
from analytics.report.document import ContentsEntry, document, section
from analytics.report.markup import element
from infra.kernel.html import Html

from ..subject import StudySubject
from .figure import FigureSection
from .sheet import Sheet


class PageSection(NamedTuple):
    """A section of the page. The contents link to it by its `key`."""

    key: str
    title: str
    html: Html


def drawn(figures: Sequence[FigureSection]) -> list[PageSection]:
    """Returns a section for each figure."""
    return [PageSection(each.key, each.title, each.html()) for each in figures]


def tabled(sheets: dict[str, Sheet]) -> list[PageSection]:
    """Returns a section for each of the sheets, by key, that has rows."""
    return [PageSection(key, each.title, section(key, each.title, each.html())) for key, each in sheets.items() if each.rows]


def page(subject: StudySubject, question: str, size: tuple[str, str], told: list[str], parts: list[PageSection]) -> str:
    """Returns the whole page as HTML.

    - `subject`, `question`: what the study is about, and what it asks.
    - `size`: a number beside those that every subject has, and its unit.
    - `told`: what was planned on, in words.
    - `parts`: the sections.
    """
    return document(
        f"{subject.name}: {question}",
        [ContentsEntry(each.key, each.title) for each in parts],
        _head(subject, question, size, told),
        *(each.html for each in parts),
    )


def _head(subject: StudySubject, question: str, size: tuple[str, str], told: list[str]) -> Html:
    known = [(number(getattr(subject, unit)), unit) for unit in ("topics", "subscribers", "pairs", "events")]
    return element(
        "header",
        element("p", f"Plan: {question}", class_="kicker"),
        element("h1", subject.name),
        element("p", f"{subject.source.rstrip('.')}. Topics of {subject.service} that have events and subscribers.", class_="lead"),
        element("ul", *(element("li", element("b", value), f" {unit}") for value, unit in (*known, size)), class_="sizes"),
        *(element("p", line) for line in told),
        *(element("p", note, class_="note") for note in subject.notes),
    )
