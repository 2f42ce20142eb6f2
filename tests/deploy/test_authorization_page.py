"""docs/authorization.md says what the policy says."""

from itertools import product

from infra.kernel.access import AccessFacts, Listening, Relation, Visibility
from infra.kernel.topics import Kind
from tests.deploy.authorization_page import PAGE, cases, render


def test_the_page_equals_the_policy() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run: .venv/bin/python -m tests.deploy.authorization_page"


def test_the_table_has_every_kind_under_every_setting_that_counts_for_it() -> None:
    """AUTH-1 to AUTH-7, AUTH-9."""
    stranger = AccessFacts(Relation.STRANGER)
    rows = {(case.kind, case.facts) for case in cases() if not case.is_edit}
    for listening, visibility in product(Listening, Visibility):
        assert (Kind.USER, stranger._replace(listening=listening)) in rows
        assert (Kind.PLAYLIST, stranger._replace(visibility=visibility)) in rows
    assert {case.kind for case in cases()} == set(Kind)
