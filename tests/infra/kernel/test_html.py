"""HTML that is safe by construction."""

from string import Template

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.kernel.html import Html, escaped, filled, joined


@given(st.text())
def test_text_is_escaped_once_and_holds_no_markup(text: str) -> None:
    made = escaped(text)
    assert not set(made) & set("<>\"'")
    assert escaped(made) == made


def test_what_is_joined_is_markup_and_its_text_is_escaped() -> None:
    made = joined("<", Html("<b>&amp;</b>"))
    assert isinstance(made, Html)
    assert made == "&lt;<b>&amp;</b>"


def test_a_template_takes_text_escaped_and_markup_as_it_is() -> None:
    template = Template('<a title="$title">$inside</a>')
    made = filled(template, title='$inside "<', inside=Html("<b>!</b>"))
    assert isinstance(made, Html)
    assert made == '<a title="$inside &quot;&lt;"><b>!</b></a>'


def test_a_place_without_a_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        filled(Template("$title"))
