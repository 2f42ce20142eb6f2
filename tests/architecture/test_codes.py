"""The code table is one table: unique, in its range, and the page about it says the same."""

from http import HTTPStatus

from infra.kernel.codes import ALL, BY_NAME, BY_NUMBER
from tests.architecture import codes_script
from tests.architecture.codes_page import PAGE, render


def test_every_code_has_its_own_number_and_name() -> None:
    assert len(BY_NUMBER) == len(BY_NAME) == len(ALL)


def test_every_number_is_a_legal_close_code_and_every_status_an_http_error() -> None:
    for code in ALL:
        # RFC 6455, 7.4.2: 4000-4999 are for private use; ours has its kinds in the hundreds.
        assert 4000 <= code.number < 5000
        assert HTTPStatus(code.http) >= HTTPStatus.BAD_REQUEST


def test_the_page_equals_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run: .venv/bin/python tests/architecture/codes_page.py"


def test_the_table_of_the_browser_client_equals_the_table() -> None:
    assert codes_script.SCRIPT.read_text(encoding="utf-8") == codes_script.render(), (
        "run: .venv/bin/python -m tests.architecture.codes_script"
    )
