"""Whether planted defects fit where they are planted: one that cannot even be called shows in every life, and proves nothing."""

import inspect

import pytest

from .defects import DEFECTS


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_can_be_called_as_what_it_takes_the_place_of(name: str) -> None:
    """DPS-30"""
    defect = DEFECTS[name]
    right = inspect.signature(getattr(defect.owner, defect.method))
    all_of_it = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    places = [each.name for each in right.parameters.values() if each.kind in all_of_it]
    names = {each.name: None for each in right.parameters.values() if each.kind is inspect.Parameter.KEYWORD_ONLY}
    inspect.signature(defect.wrong).bind(*places, **names)
