"""services.parameters: what a path or a query says is checked, and a page has a length."""

from typing import Annotated

import msgspec
import pytest

from infra.kernel.errors import Refused
from services.follows import PAGE
from services.parameters import LIMIT, checked, page_of

Short = Annotated[str, msgspec.Meta(max_length=3)]


def test_a_page_begins_at_the_beginning_and_has_a_usual_length_unless_it_is_said() -> None:
    assert page_of({}) == ("", LIMIT)
    assert page_of({"after": "bob", "limit": str(PAGE)}) == ("bob", PAGE)


@pytest.mark.parametrize("limit", ["0", "-1", str(PAGE + 1), "many", "", "1.5"])
def test_a_length_that_no_page_has_is_refused(limit: str) -> None:
    with pytest.raises(Refused, match=r"bad-field: limit: "):
        page_of({"limit": limit})


def test_a_part_of_a_path_is_named_where_it_is_wrong() -> None:
    assert checked("ann", Short, "user") == "ann"
    with pytest.raises(Refused, match=r"bad-field: user: "):
        checked("anna", Short, "user")
