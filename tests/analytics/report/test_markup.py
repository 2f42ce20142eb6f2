"""Elements and tables of a page."""

from hypothesis import given
from hypothesis import strategies as st

from analytics.report.markup import element, table
from infra.kernel.html import Html


@given(st.text())
def test_text_is_escaped_and_markup_is_not(text: str) -> None:
    made = element("p", text, element("b", "!"), title=text)
    inside = made.partition(">")[2].removesuffix("</p>")

    assert inside.endswith("<b>!</b>")
    assert "<" not in inside.removesuffix("<b>!</b>")
    assert made.count('"') == 2


def test_names_of_attributes_are_as_html_writes_them() -> None:
    assert element("a", "x", class_="y", aria_label="z") == '<a class="y" aria-label="z">x</a>'


def test_a_table_has_a_row_for_each_row_and_escapes_its_cells() -> None:
    made = table(("a", "b"), [("1", "<2>"), ("3", Html("<i>4</i>"))])

    assert made.count("<tr>") == 3
    assert "&lt;2&gt;" in made
    assert "<i>4</i>" in made
