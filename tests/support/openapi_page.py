"""An OpenAPI document, asked whether what a door does is what it describes."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from infra.kernel.codes import BY_NAME
from infra.runtime.http.web import Route

DOCS = Path(__file__).resolve().parents[2] / "docs"
METHODS = ("get", "put", "post", "delete")
WHO = {"user": {"userToken"}, "service": {"serviceToken"}, "operator": {"serviceToken"}, "any": {"userToken", "serviceToken"}}


def examples(content: dict[str, Any]) -> Iterator[Any]:
    """Yields the values that a media type shows."""
    yield from (each["value"] for each in content.get("examples", {}).values())
    if "example" in content:
        yield content["example"]


class OpenapiPage:
    """The document at docs/`name`."""

    def __init__(self, name: str) -> None:
        self.document: dict[str, Any] = json.loads((DOCS / name).read_text(encoding="utf-8"))

    def operations(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Returns each operation by method and path."""
        return {
            (method.upper(), path): item[method] for path, item in self.document["paths"].items() for method in METHODS if method in item
        }

    def check_answer(self, method: str, path: str, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        """Checks that an answer to a request of `path` is one that is described: its status, its body, and its `headers` if given.

        Raises AssertionError, ValidationError, and KeyError for a header that is missing.
        """
        responses = self._operation(method, path.partition("?")[0])["responses"]
        assert str(status) in responses, f"{method} {path} answers {status}, which is not described"
        described = self.resolved(responses[str(status)])
        if headers is not None:
            for name, header in described.get("headers", {}).items():
                self.validator(header["schema"]).validate(headers[name])
        content = described.get("content")
        assert (body is None) == (content is None)
        if content is not None:
            self.validator(content["application/json"]["schema"]).validate(body)
        if status >= 400:
            assert f"`{body['code']}`" in described["description"]

    def check_request(self, method: str, path: str, body: Any) -> None:
        """Checks that a request of `path` with this `body` (None: without one) is one that is described. Raises as `check_answer`."""
        described = self._operation(method, path).get("requestBody")
        assert (body is None) == (described is None), f"{method} {path}: a body, or none, is not as described"
        if described is not None:
            self.validator(described["content"]["application/json"]["schema"]).validate(body)

    def check_routes(self, routes: list[Route]) -> None:
        """Checks that all routes are described, with whose token they take, and nothing else."""
        assert {(route.method, route.path): WHO[route.who] for route in routes} == {
            where: {name for each in operation["security"] for name in each} for where, operation in self.operations().items()
        }

    def check_itself(self) -> None:
        """Schemas are schemas, examples are valid, and each code stands under its status."""
        for schema in self.document["components"]["schemas"].values():
            Draft202012Validator.check_schema(schema)
        for content in self._contents():
            for example in examples(content):
                self.validator(content["schema"]).validate(example)
        for status, response in self.document["components"]["responses"].items():
            for name in re.findall(r"`([a-z0-9-]+)`", response["description"]):
                assert str(BY_NAME[name].http) == status

    def requests(self) -> Iterator[tuple[str, str, Any]]:
        """Yields the requests that are shown: method, path, body."""
        for (method, path), operation in self.operations().items():
            if "requestBody" in operation:
                yield method, path, operation["requestBody"]["content"]["application/json"]["example"]

    def accepts(self, schema: str, value: Any) -> bool:
        """Returns whether a schema of the document takes `value`."""
        return bool(self.validator({"$ref": f"#/components/schemas/{schema}"}).is_valid(value))

    def _operation(self, method: str, path: str) -> dict[str, Any]:
        # A fixed path before one with names in it.
        for (each, template), operation in sorted(self.operations().items(), key=lambda item: "{" in item[0][1]):
            if each == method and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path):
                return operation
        raise AssertionError(f"{method} {path} is not described")

    def _contents(self) -> Iterator[dict[str, Any]]:
        for operation in self.operations().values():
            for each in [operation.get("requestBody", {}), *map(self.resolved, operation["responses"].values())]:
                yield from each.get("content", {}).values()

    def resolved(self, response: dict[str, Any]) -> dict[str, Any]:
        """Returns a response, which may be one that several operations share."""
        reference = response.get("$ref", "").rpartition("/")[2]
        return dict(self.document["components"]["responses"][reference]) if reference else response

    def validator(self, schema: dict[str, Any]) -> Draft202012Validator:
        """Returns what checks values against a schema of the document."""
        return Draft202012Validator(schema | {"components": self.document["components"]})
