"""Whether planted defects fit where they are planted: one that cannot even be called shows in every life, and proves nothing."""

import inspect
from pathlib import Path

import pytest

from .defects import DEFECTS

PAGE = Path(__file__).parents[2] / "docs" / "simulation.md"


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_can_be_called_as_what_it_takes_the_place_of(name: str) -> None:
    """DPS-30"""
    defect = DEFECTS[name]
    right = inspect.signature(getattr(defect.owner, defect.method))
    all_of_it = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    places = [each.name for each in right.parameters.values() if each.kind in all_of_it]
    names = {each.name: None for each in right.parameters.values() if each.kind is inspect.Parameter.KEYWORD_ONLY}
    inspect.signature(defect.wrong).bind(*places, **names)


def test_the_page_names_every_defect_and_says_how_many_there_are() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert f"{len(DEFECTS)} defects can be planted" in page
    assert [name for name in DEFECTS if f"`{name}`" not in page] == []
