"""Claims as a page shows them."""

from overlay.report.claims import REQUIREMENTS, AnsweredStudy, in_short, listed, summary
from tests.support.made_studies import COUNTING
from tests.support.tiny_studies import tiny


def answered() -> AnsweredStudy:
    return AnsweredStudy(COUNTING, tiny(COUNTING))


def test_all_requirements_of_the_laboratory_are_known() -> None:
    assert len(REQUIREMENTS) == 53
    assert {"P2P-1", "P2P-47", "OV-1", "OV-6"} <= set(REQUIREMENTS)


def test_the_summary_has_all_claims_by_number_with_a_link_and_a_mark() -> None:
    page = summary([answered()])
    assert page.index("P2P-2<") < page.index("P2P-9<") < page.index("OV-1<")
    assert page.count('<a href="#counting" title="Counting &amp; more">') == 3
    assert all(mark in page for mark in ("✓ agrees", "✗ differs", "○ told only"))
    assert "No study speaks of P2P-1, P2P-3 to P2P-8, P2P-10 to P2P-47, OV-2 to OV-6." in page


def test_verdicts_are_counted_in_words_and_marks() -> None:
    assert in_short([answered()]) == "Of 3 claims, 1 agree with what is demanded, 1 differ and 1 are told only."
    assert answered().tally == "1 ✓ 1 ✗ 1 ○"


def test_a_claim_says_what_was_published_demanded_and_measured_and_why() -> None:
    first, second, _ = answered().result.claims
    assert "<dd>&lt;much&gt;</dd>" in listed([first])
    assert "<dt>Because</dt><dd>because</dd>" in listed([first])
    assert "<dt>Published</dt><dd>nothing</dd>" in listed([second])
    assert "Because" not in listed([second])
    assert listed([]) == ""
