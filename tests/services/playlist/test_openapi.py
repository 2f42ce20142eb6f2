"""docs/openapi-playlist.json is true: what it describes is what the door does."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.playlist.handlers import Editing, Wanted
from tests.services.playlist.site import Site, site
from tests.support.openapi_page import OpenapiPage, examples
from tests.support.samples import service_token, user_token

PAGE = OpenapiPage("openapi-playlist.json")
OPERATIONS = PAGE.operations()
SUMMER = "/v1/playlists/ann/summer"


async def ask(s: Site, method: str, path: str, *, token: str | None = None, **body: Any) -> tuple[int, Any]:
    """Asks with `method` and `path`; checks that the answer is one that the operation describes."""
    headers = {"Authorization": f"Bearer {user_token('ann') if token is None else token}"}
    async with s.c.http.request(method, f"http://{s.service.address}{path}", headers=headers, **body) as answer:
        document = await answer.json() if answer.content_type == "application/json" else None
    PAGE.check_answer(method, path, answer.status, document, answer.headers)
    return answer.status, document


def test_schemas_are_schemas_examples_are_valid_and_each_code_stands_under_its_status() -> None:
    PAGE.check_itself()


async def test_the_door_has_the_paths_that_are_described_and_takes_the_tokens_that_are_described(tmp_path: Path) -> None:
    async with site(tmp_path) as s:
        routes = {(route.method, route.path): route.who for route in s.service.work.routes()}
        assert routes.keys() == OPERATIONS.keys()
        for key, each in OPERATIONS.items():
            assert (routes[key] == "any") == ({"serviceToken": []} in each["security"])


async def test_what_is_shown_works_from_the_first_to_the_last(tmp_path: Path) -> None:
    async with site(tmp_path) as s:
        created = OPERATIONS["POST", "/v1/playlists"]["requestBody"]["content"]["application/json"]
        for body in examples(created):
            assert (await ask(s, "POST", "/v1/playlists", json=body))[0] == 201
        changes = list(examples(OPERATIONS["POST", "/v1/playlists/{owner}/{id}/changes"]["requestBody"]["content"]["application/json"]))
        for n, body in enumerate(changes):
            assert await ask(s, "POST", SUMMER + "/changes", json=body) == (200, {"version": n + 2})
        assert (await ask(s, "PUT", SUMMER + "/follow"))[0] == 204
        for path in (SUMMER, SUMMER + "/followers?limit=1", "/v1/users/ann/playlists", "/v1/users/ann/followed"):
            status, document = await ask(s, "GET", path)
            assert (status, bool(document)) == (200, True)
        assert (await ask(s, "DELETE", SUMMER + "/follow"))[0] == 204
        assert (await ask(s, "DELETE", SUMMER + f"?version={len(changes) + 1}"))[0] == 204


async def test_refusals_are_as_described(tmp_path: Path) -> None:
    rename = {"change": {"op": "rename", "name": "x"}}
    async with site(tmp_path) as s:
        await ask(s, "POST", "/v1/playlists", json={"id": "summer", "name": "n", "tracks": ["t"]})
        tried = [
            await ask(s, "POST", "/v1/playlists", json={"id": "summer", "name": "n"}),
            await ask(s, "GET", "/v1/users/ann/playlists?limit=0"),
            await ask(s, "POST", "/v1/playlists", json={"name": ""}),
            await ask(s, "POST", "/v1/playlists", data=b"name", token=user_token("ann")),
            await ask(s, "POST", SUMMER + "/changes", json={"change": {"op": "add", "tracks": ["t"] * 10_000}}),
            await ask(s, "POST", SUMMER + "/changes", json=rename, token=user_token("bob")),
            await ask(s, "POST", SUMMER + "/changes", json=rename | {"version": 9}),
            await ask(s, "POST", "/v1/playlists/ann/none/changes", json=rename),
            await ask(s, "GET", SUMMER, token="forged"),
            await ask(s, "PUT", SUMMER + "/follow", token=service_token("social")),
        ]
        assert [status for status, _ in tried] == [409, 400, 400, 415, 413, 403, 409, 404, 401, 403]
        await s.service.work.stores.close()
        assert (await ask(s, "GET", SUMMER))[1]["code"] == "unavailable"
        await s.service.drain()
        assert (await ask(s, "GET", SUMMER))[1]["code"] == "draining"


NUMBERS = st.one_of(st.none(), st.integers(-1, 2), st.integers(9_999, 10_001), st.just("1"))
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "op": st.sampled_from(["rename", "collaborative", "add", "remove", "reorder", "create", "delete"]),
        "name": st.sampled_from(["", "x", "x" * 200, "x" * 201]),
        "collaborative": st.sampled_from([True, False, None, 1]),
        "tracks": st.sampled_from([[], ["t"], [""], ["t" * 129], "t", None]),
        "position": NUMBERS,
        "to": NUMBERS,
        "count": NUMBERS,
    },
)


@settings(max_examples=400)
@given(change=FIELDS, op=st.sampled_from(["rename", "collaborative", "add", "remove", "reorder"]))
def test_the_schema_of_a_change_takes_exactly_what_the_door_takes(change: dict[str, Any], op: str) -> None:
    wanted = {
        "rename": ("op", "name"),
        "collaborative": ("op", "collaborative"),
        "add": ("op", "tracks", "position"),
        "remove": ("op", "position", "count"),
        "reorder": ("op", "position", "to", "count"),
    }[op]
    for each in (change, {"op": op} | {key: value for key, value in change.items() if key in wanted and key != "op"}):
        body = {"change": each}
        assert PAGE.validator({"$ref": "#/components/schemas/Editing"}).is_valid(body) == is_taken(body, Editing)


@pytest.mark.parametrize(
    "field", [{}, {"name": ""}, {"collaborative": None}, {"tracks": None}, {"id": 1}, {"other": 1}, {"tracks": ["t"] * 10_001}]
)
def test_the_schema_of_a_new_playlist_takes_exactly_what_the_door_takes(field: dict[str, Any]) -> None:
    body = {"name": "n"} | field
    assert PAGE.validator({"$ref": "#/components/schemas/Wanted"}).is_valid(body) == is_taken(body, Wanted)


def is_taken(body: Any, kind: type[Any]) -> bool:
    """Returns whether the handlers can read it."""
    try:
        msgspec.json.decode(json.dumps(body), type=kind)
    except msgspec.ValidationError:
        return False
    return True
