"""Parameters of requests to services: what their paths and queries say, checked."""

from collections.abc import Mapping
from typing import Annotated, Final, TypeVar

import msgspec

from infra.kernel.errors import Refused

from .follows import PAGE

LIMIT: Final = 100

Limit = Annotated[int, msgspec.Meta(ge=1, le=PAGE)]
T = TypeVar("T")


def checked(value: str, kind: type[T], name: str) -> T:
    """Returns the part `name` of the path or the query as a value of `kind`. Raises `Refused("bad-field")`."""
    try:
        return msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError as wrong:
        raise Refused("bad-field", f"{name}: {wrong}") from wrong


def page_of(query: Mapping[str, str]) -> tuple[str, int]:
    """Returns where a page begins, and how long it may be. Raises `Refused("bad-field")`."""
    return query.get("after", ""), checked(query.get("limit", str(LIMIT)), Limit, "limit")
