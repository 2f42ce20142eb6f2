"""Tables and how their numbers are written."""

from analytics.planning.report.sheet import Sheet, amount, percent, ratio, seconds, signed, usd


def test_a_ratio_is_never_told_better_than_it_is() -> None:
    assert ratio(0.8999) == "0.899"
    assert ratio(0.9) == "0.900"
    assert ratio(1.0) == "1.000"


def test_numbers_have_as_many_digits_as_matter() -> None:
    assert [amount(each) for each in (3_512_345.4, 12.25, 7.0)] == ["3,512,345", "12.25", "7"]
    assert [seconds(each) for each in (0.01234, 0.421, 12.34)] == ["0.0123", "0.42", "12.3"]
    assert [usd(each) for each in (3314.2, 38.654)] == ["3,314", "38.65"]
    assert [percent(0.7182), signed(0.016), signed(-0.035)] == ["71.8 %", "+1.6 %", "-3.5 %"]


def test_a_table_escapes_what_it_is_given_and_says_its_notes_below() -> None:
    found = Sheet("title", ("a", "b"), [("<i>", "1")], 1, ("a note",)).html()
    assert "&lt;i&gt;" in found
    assert 'class="numbers after-1"' in found
    assert found.endswith('<p class="source">a note</p>')
