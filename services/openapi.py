"""What the OpenAPI documents of the services have in common."""

from typing import Annotated, Final

import msgspec

from infra.kernel.topics import MAX_ID
from infra.runtime.http.openapi import Parameter

from .follows import PAGE

ShownName = Annotated[str, msgspec.Meta(pattern=f"^[A-Za-z0-9._-]{{1,{MAX_ID}}}$")]
PageLength = Annotated[int, msgspec.Meta(ge=1, le=PAGE, extra_json_schema={"default": 100})]

AFTER: Final = Parameter(str, "`next` of the page before.")
LIMIT: Final = Parameter(PageLength, "How long the page may be.")
USERS: Final = "A token with the claim `sub`: the user is who the token says. See tokens.md."
UNAUTHORIZED: Final = "`bad-token`, `token-expired`, `token-not-yet-valid`: send a valid token."
BAD_REQUEST: Final = (
    "`bad-field`, `bad-topic`, `bad-json`, `bad-utf8`, `too-many-topics`: the request is wrong; the reason says what to change."
)
FORBIDDEN: Final = "`forbidden`: this token does not allow it."
TOO_LARGE: Final = "`too-large`: more than is taken."
NOT_JSON: Final = "`bad-content-type`: the body must be application/json."
AGAIN: Final = "`unavailable`, `draining`: try again; repeating is safe."
