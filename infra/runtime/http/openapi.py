"""OpenAPI 3.1 documents, made from routes and from the types of messages.

A role keeps an `openapi.py` beside its handlers. It says of each route what the route is for, what it takes and what it answers;
method, path and token come from the route itself, schemas from the types (`msgspec.json.schema_components`).
`tests/deploy/openapi_pages.py` writes the pages.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, NamedTuple, Protocol, Self

import msgspec

from infra.kernel.http_error import JSON

from .openapi_schema import Schema, Schemas

HttpStatus = int

# The errors of most routes that take a token: without anything that could be wrong, with names in the path or a query, with a body.
ASKED: Final = (401, 403, 503)
NAMED: Final = (400, *ASKED)
SENT: Final = (400, 401, 403, 413, 415, 503)


class Described(Protocol):
    """A route, as far as a document shows it; `who` is "user", "service", "operator", "any" or "nobody"."""

    @property
    def method(self) -> str: ...

    @property
    def path(self) -> str: ...

    @property
    def who(self) -> str: ...


class NamedRoute(NamedTuple):
    """A route of a listener whose own routes do not say whose token they take."""

    method: str
    path: str
    who: str


class Refusal(msgspec.Struct, frozen=True):
    """The body of every answer that is an error."""

    code: Annotated[str, msgspec.Meta(description="Name in the code table.")]
    number: Annotated[int, msgspec.Meta(ge=4000, le=4999)]
    reason: Annotated[str, msgspec.Meta(description="What exactly was wrong, and what to do.")]


class RejectedRow(Refusal, frozen=True):
    """One of several things in a request that was not taken, while others were."""

    index: Annotated[int, msgspec.Meta(ge=0, description="Position in the request, from 0.")]


@dataclass(frozen=True, slots=True)
class Example:
    """An example of a body."""

    value: object
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """A body: its type (a tuple: one of these), examples of it by name, and its media type."""

    type: Any
    examples: Mapping[str, Example] = field(default_factory=dict)
    media: str = JSON

    @classmethod
    def of(cls, type: Any, example: object) -> Self:
        """Returns a JSON body of `type` with one example: what JSON makes of a value of that type."""
        return cls(type, {"example": Example(example)})


@dataclass(frozen=True, slots=True)
class Success:
    """An answer that is no error. `content` is None where there is no body; `headers`: name to description."""

    description: str
    content: Content | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A part of a path, or of a query: its type and what it means."""

    type: Any
    description: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class ServerUrl:
    """The place where operations are asked for."""

    url: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """The description of one route.

    - `id`, `summary`, `description`: for its readers.
    - `query`: its parameters behind the question mark.
    - `request`: the bodies that it takes, one for each media type.
    - `replies`: answers that are no errors, by status.
    - `refusals`: the statuses of its errors, which the document explains.
    - `server`: where it is, if not where the document says.
    """

    id: str
    summary: str
    replies: Mapping[HttpStatus, Success]
    refusals: Sequence[HttpStatus] = ()
    description: str = ""
    query: Mapping[str, Parameter] = field(default_factory=dict)
    request: Sequence[Content] = ()
    server: ServerUrl | None = None


def answered(
    id: str,
    summary: str,
    reply: str,
    body: Content,
    *,
    status: HttpStatus = 200,
    description: str = "",
    query: Mapping[str, Parameter] | None = None,
    request: Sequence[Content] = (),
    refusals: Sequence[HttpStatus] = ASKED,
) -> Operation:
    """Returns the description of a route with one answer that is no error: `reply` says what its `body` is. The others: see `Operation`."""
    replies = {status: Success(reply, body)}
    return Operation(
        id=id, summary=summary, description=description, query=query or {}, request=request, replies=replies, refusals=refusals
    )


def done(id: str, summary: str, reply: str, *, description: str = "", refusals: Sequence[HttpStatus] = NAMED) -> Operation:
    """Returns the description of a route that takes and answers no body: `reply` says what holds then. The others: see `Operation`."""
    return Operation(id=id, summary=summary, description=description, replies={204: Success(reply)}, refusals=refusals)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A page.

    - `server`: where its operations are, unless they say something else.
    - `tokens`: what a token of a kind ("user", "service") is.
    - `parameters`: the parts of paths, by name.
    - `refusals`: what an error of a status means, with the names of its codes.
    - `operations`: by method and path.
    - `everywhere`: errors that every operation may answer with, besides its own.
    - `refined`: what types cannot say, by type and then by field; "" is the type itself.
    """

    title: str
    summary: str
    description: str
    server: ServerUrl
    tokens: Mapping[str, str]
    refusals: Mapping[HttpStatus, str]
    operations: Mapping[tuple[str, str], Operation]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    everywhere: Mapping[HttpStatus, str] = field(default_factory=dict)
    refined: Mapping[Any, Mapping[str, Schema]] = field(default_factory=dict)


_KINDS: Final[Mapping[str, Sequence[str]]] = {
    "user": ("user",),
    "service": ("service",),
    "operator": ("service",),
    "any": ("user", "service"),
    "nobody": (),
}
# What the servers on aiohttp answer to everybody who goes too far.
ON_AIOHTTP: Final[Mapping[HttpStatus, str]] = {
    408: "`hello-timeout`: the request did not arrive in time.",
    429: "`rate-limited`: requests come too often; wait as long as `Retry-After` says.",
}
_LICENSE: Final = {"name": "Apache-2.0", "identifier": "Apache-2.0"}
# The headers that a status comes with (`infra/kernel/http_error.py`).
_RETRY_AFTER: Final = {"Retry-After": {"description": "Seconds.", "schema": {"type": "string", "pattern": "^[0-9]+$"}}}
_HEADERS: Final[Mapping[HttpStatus, Schema]] = {
    401: {"WWW-Authenticate": {"schema": {"type": "string", "const": "Bearer"}}},
    429: _RETRY_AFTER,
    503: _RETRY_AFTER,
}


def render(document: Document, routes: Iterable[Described], *, version: str) -> Schema:
    """Returns the page of `document` for `routes`, in their order; `version` is that of the product.

    Raises ValueError where a route is not described, or something is described that is no route.
    """
    page = _Page(document)
    paths = page.paths(routes)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": document.title,
            "version": version,
            "summary": document.summary,
            "description": document.description,
            "license": _LICENSE,
        },
        "servers": [_server(document.server)],
        "paths": paths,
        "components": {
            "securitySchemes": {f"{kind}Token": _token(words) for kind, words in document.tokens.items()},
            "responses": {str(status): page.refusal(status) for status in dict.fromkeys((*document.refusals, *document.everywhere))},
            "schemas": page.schemas.components,
        },
    }


class _Page:
    """The parts of a page that hold schemas."""

    def __init__(self, document: Document) -> None:
        self._document = document
        contents = [content for each in document.operations.values() for content in each.request]
        replies = [reply.content for each in document.operations.values() for reply in each.replies.values()]
        self.schemas = Schemas(
            asked=[content.type for content in contents],
            answered=[Refusal, *(content.type for content in replies if content is not None)],
            refined=document.refined,
        )

    def paths(self, routes: Iterable[Described]) -> Schema:
        """Returns the operations of `routes` by path and method. Raises ValueError where they are not those of the document."""
        found: Schema = {}
        rest = dict(self._document.operations)
        for route in routes:
            operation = rest.pop((route.method, route.path), None)
            if operation is None:
                raise ValueError(f"{route.method} {route.path} is not described")
            found.setdefault(route.path, {})[route.method.lower()] = self._operation(operation, route)
        if rest:
            raise ValueError(f"there is no route {' '.join(next(iter(rest)))}")
        return found

    def refusal(self, status: HttpStatus) -> Schema:
        """Returns what an error of `status` looks like."""
        described: Schema = {"description": {**self._document.everywhere, **self._document.refusals}[status]}
        if status in _HEADERS:
            described["headers"] = _HEADERS[status]
        return described | {"content": {JSON: {"schema": self.schemas.of(Refusal)}}}

    def _operation(self, operation: Operation, route: Described) -> Schema:
        shown: Schema = {"operationId": operation.id, "summary": operation.summary}
        if operation.description:
            shown["description"] = operation.description
        if operation.server is not None:
            shown["servers"] = [_server(operation.server)]
        shown["security"] = [{f"{kind}Token": []} for kind in _KINDS[route.who]]
        if parameters := list(self._parameters(operation, route.path)):
            shown["parameters"] = parameters
        if operation.request:
            shown["requestBody"] = {"required": True, "content": self._contents(operation.request)}
        replies = {str(status): self._reply(reply) for status, reply in operation.replies.items()}
        refusals = dict.fromkeys((*operation.refusals, *self._document.everywhere))
        return shown | {"responses": replies | {str(status): _shared(status) for status in refusals}}

    def _parameters(self, operation: Operation, path: str) -> Iterator[Schema]:
        for part in path.split("/"):
            if part.startswith("{"):
                yield self._parameter(part.strip("{}"), "path", self._document.parameters[part.strip("{}")], required=True)
        for name, parameter in operation.query.items():
            yield self._parameter(name, "query", parameter, required=parameter.required)

    def _parameter(self, name: str, place: str, parameter: Parameter, *, required: bool) -> Schema:
        schema = self.schemas.of(parameter.type)
        return {"name": name, "in": place, "required": required, "description": parameter.description, "schema": schema}

    def _reply(self, reply: Success) -> Schema:
        shown: Schema = {"description": reply.description}
        if reply.headers:
            shown["headers"] = {name: {"description": words, "schema": {"type": "string"}} for name, words in reply.headers.items()}
        return shown | ({"content": self._contents([reply.content])} if reply.content is not None else {})

    def _contents(self, contents: Sequence[Content]) -> Schema:
        return {each.media: {"schema": self.schemas.of(each.type)} | _examples(each.examples) for each in contents}


def _examples(examples: Mapping[str, Example]) -> Schema:
    """Returns them as a media type shows them: a single one needs no name."""
    if list(examples) == ["example"]:
        return {"example": examples["example"].value}
    shown = {name: ({"summary": each.summary} if each.summary else {}) | {"value": each.value} for name, each in examples.items()}
    return {"examples": shown} if shown else {}


def _shared(status: HttpStatus) -> Schema:
    return {"$ref": f"#/components/responses/{status}"}


def _server(server: ServerUrl) -> Schema:
    return {"url": server.url, "description": server.description}


def _token(description: str) -> Schema:
    return {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": description}
