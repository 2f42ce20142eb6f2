"""docs/openapi-operator.json is true: what it describes is what a broker does."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from broker import operator_openapi
from broker.operator_handlers import OperatorHandlers
from tests.support.cluster import Cluster

DOCUMENT: dict[str, Any] = json.loads((Path(__file__).resolve().parents[2] / "docs" / "openapi-operator.json").read_text(encoding="utf-8"))
OPERATIONS = [(path, method, operation) for path, item in DOCUMENT["paths"].items() for method, operation in item.items()]


def check(value: object, schema: dict[str, Any]) -> None:
    """Raises an error unless `value` is one that `schema`, of the document, describes."""
    Draft202012Validator(schema | {"components": DOCUMENT["components"]}).validate(value)


def examples(content: dict[str, Any]) -> list[Any]:
    return [each["value"] for each in content.get("examples", {}).values()] + ([content["example"]] if "example" in content else [])


def test_what_is_described_are_the_routes() -> None:
    routes = object.__new__(OperatorHandlers)
    described = {(method.upper(), path) for path, method, _ in OPERATIONS}
    assert described == {(route.method, route.path) for route in operator_openapi.ROUTES}
    assert described == routes.routes().keys()


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS, ids=lambda each: each if isinstance(each, str) else "")
async def test_each_request_that_is_shown_is_answered_as_described(path: str, method: str, operation: dict[str, Any]) -> None:
    async with Cluster(sites=1) as c:
        shown = examples(operation["requestBody"]["content"]["application/json"]) if "requestBody" in operation else [None]
        query = "".join(f"?{each['name']}=ann" for each in operation.get("parameters", ()) if each["required"])
        answer_type = operation["responses"]["200"]["content"]["application/json"]
        for body in shown:
            if body is not None:
                check(body, operation["requestBody"]["content"]["application/json"]["schema"])
            status, answer = await c.operate(method.upper(), path + query, body)
            assert status == 200, answer
            check(answer, answer_type["schema"])
        for value in examples(answer_type):
            check(value, answer_type["schema"])
