"""A study: one question to the overlays, its answer as numbers, and what was published beside it.

A study runs in a process of its own, so it answers in plain numbers. Drawing them is another function, for whoever has the result.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import msgspec

from analytics.report.plot import Plot

# `tiny` is for tests and takes a second or two. `quick` shows the shape of each figure. `full` has the published size, or ten times that.
StudyScale = Literal["tiny", "quick", "full"]


class StudyTable(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of a figure. `name` is that of its CSV file; numbers of a row are rounded by those who show them."""

    name: str
    head: tuple[str, ...]
    rows: list[tuple[float | str, ...]]


class StudyClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A requirement beside what was measured.

    - `requirement`: its id, such as `P2P-18`. `published`: the statement of the paper, in words, with its number.
    - `demanded`: what must hold here. `measured`: what came out, in words.
    - `holds`: whether it does; None where a figure is only told, or where this scale is too small to judge.
    - `why`: the explanation of what differs.
    """

    requirement: str
    published: str
    demanded: str
    measured: str
    holds: bool | None
    why: str = ""


class StudyResult(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a study."""

    tables: list[StudyTable]
    claims: list[StudyClaim]

    def table(self, name: str) -> StudyTable:
        """Returns the table with this name. Raises KeyError."""
        return {each.name: each for each in self.tables}[name]


class OverlayStudy(NamedTuple):
    """A question, how it is answered, and how the answer is drawn.

    - `key`: names its part of the page and its folder of files. `title`: what is shown, in words.
    - `sources`: the figures that it draws anew, such as `PolderCast figure 5, thesis figure 3.5`; empty where nothing was published.
    - `run`: called with a scale, a seed, and a function that is told how far it is.
    - `plots`: returns the drawings of a result.
    """

    key: str
    title: str
    sources: str
    run: Callable[[StudyScale, int, Callable[[str], None]], StudyResult]
    plots: Callable[[StudyResult], Sequence[Plot]]
