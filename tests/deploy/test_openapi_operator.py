"""docs/openapi-operator.json is true: what it describes is what a broker does."""

from typing import Any

import pytest

from broker import operator_openapi
from tests.support.cluster import Cluster
from tests.support.openapi_page import OpenapiPage, examples

PAGE = OpenapiPage("openapi-operator.json")
OPERATIONS = [(path, method, operation) for (method, path), operation in PAGE.operations().items()]


async def test_what_is_described_are_the_routes() -> None:
    async with Cluster(sites=1) as c:
        routes = c.of("broker", c.sites[0])[0].door.operators.routes()
    described = {(method, path) for path, method, _ in OPERATIONS}
    assert described == {(route.method, route.path) for route in operator_openapi.ROUTES}
    assert described == routes.keys()


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS, ids=lambda each: each if isinstance(each, str) else "")
async def test_each_request_that_is_shown_is_answered_as_described(path: str, method: str, operation: dict[str, Any]) -> None:
    async with Cluster(sites=1) as c:
        shown = [*examples(operation["requestBody"]["content"]["application/json"])] if "requestBody" in operation else [None]
        query = "".join(f"?{each['name']}=ann" for each in operation.get("parameters", ()) if each["required"])
        answer_type = operation["responses"]["200"]["content"]["application/json"]
        for body in shown:
            if body is not None:
                PAGE.validator(operation["requestBody"]["content"]["application/json"]["schema"]).validate(body)
            status, answer = await c.operate(method, path + query, body)
            assert status == 200, answer
            PAGE.validator(answer_type["schema"]).validate(answer)
        for value in examples(answer_type):
            PAGE.validator(answer_type["schema"]).validate(value)
