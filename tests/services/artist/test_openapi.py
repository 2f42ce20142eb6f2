"""docs/openapi-artist.json describes every route. That answers are as described is checked wherever tests/services/artist asks."""

from typing import Any, cast

from services.artist.handlers import ArtistHandlers
from tests.support.openapi_page import OpenapiPage

PAGE = OpenapiPage("openapi-artist.json")


def test_the_document_holds_in_itself() -> None:
    PAGE.check_itself()


def test_every_route_is_described_and_no_other() -> None:
    anything = cast(Any, None)
    PAGE.check_routes(ArtistHandlers(anything, anything, anything).routes())
