"""docs/openapi-social.json describes every route. That answers are as described is checked wherever test_server.py asks."""

from typing import Any, cast

import msgspec
import pytest

from services.social.core import Contacts
from services.social.handlers import SocialHandlers
from services.social.privacy_handlers import PrivacyHandlers
from tests.support.openapi_page import OpenapiPage

PAGE = OpenapiPage("openapi-social.json")


def test_the_document_holds_in_itself() -> None:
    PAGE.check_itself()


def test_every_route_is_described_and_no_other() -> None:
    others = PrivacyHandlers(*[cast(Any, None)] * 3).routes()
    PAGE.check_routes(SocialHandlers(cast(Any, None), []).routes() + others)


@pytest.mark.parametrize("me", ["", "x", "x" * 320, "x" * 321])
@pytest.mark.parametrize("contacts", [[], [""], ["x" * 320], ["x" * 321], ["x"] * 5000, ["x"] * 5001])
def test_the_schema_of_contacts_takes_exactly_what_the_door_takes(me: str, contacts: list[str]) -> None:
    book = {"me": me, "contacts": contacts}
    assert PAGE.accepts("Contacts", book) == taken(book, Contacts)
    assert not PAGE.accepts("Contacts", book | {"more": 1})


def taken(document: object, kind: type) -> bool:
    try:
        msgspec.convert(document, kind)
    except msgspec.ValidationError:
        return False
    return True
