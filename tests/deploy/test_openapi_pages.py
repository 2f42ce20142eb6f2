"""docs/openapi*.json are what routes and types make of them."""

import json

import pytest
from msgspec import Struct

from infra.runtime.http.openapi import Content, Document, NamedRoute, Operation, ServerUrl, Success, render
from tests.deploy.openapi_pages import DOCS, pages, text

SERVER = ServerUrl("http://127.0.0.1:1", "Nowhere.")
ROUTE = NamedRoute("GET", "/thing", "nobody")


class Thing(Struct):
    """Something to show."""

    name: str = ""


def document(**operations: Operation) -> Document:
    """Returns a document of GET operations, by the name of their path."""
    known = {("GET", f"/{name}"): each for name, each in operations.items()}
    return Document(title="", summary="", description="", server=SERVER, tokens={}, refusals={}, operations=known)


THING = Operation(id="thing", summary="A thing.", replies={200: Success("It.", Content(Thing))})


@pytest.mark.parametrize("name", pages())
def test_a_page_is_what_routes_and_types_make(name: str) -> None:
    assert (DOCS / name).read_text(encoding="utf-8") == pages()[name], "run: .venv/bin/python -m tests.deploy.openapi_pages"


def test_every_page_of_the_folder_is_made() -> None:
    assert {path.name for path in DOCS.glob("openapi*.json")} == pages().keys()


def test_what_we_send_has_all_its_fields_and_no_other() -> None:
    shown = render(document(thing=THING), [ROUTE], version="1")["components"]["schemas"]["Thing"]
    assert (shown["required"], shown["additionalProperties"]) == (["name"], False)


def test_a_route_that_is_not_described_is_an_error() -> None:
    with pytest.raises(ValueError, match="GET /other is not described"):
        render(document(thing=THING), [ROUTE, NamedRoute("GET", "/other", "nobody")], version="1")


def test_a_description_of_what_is_no_route_is_an_error() -> None:
    with pytest.raises(ValueError, match="there is no route GET /thing"):
        render(document(thing=THING), [], version="1")


def test_a_page_is_json_whatever_its_width() -> None:
    value = {"short": [1, {"a": None}], "long": ["x" * 100, {"y" * 100: ["z" * 100, []]}], "none": {}}
    assert json.loads(text(value)) == value
    assert max(map(len, text(value).splitlines())) < 150
